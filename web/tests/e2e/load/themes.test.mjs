/** Colours of every screen in the dark theme and with high contrast. */

import { checkThemes } from '../screens-suite.mjs';

checkThemes();
