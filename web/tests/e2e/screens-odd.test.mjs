/** The other half of the screens, with axe-core. */

import { checkScreens } from './screens-suite.mjs';

checkScreens(1);
