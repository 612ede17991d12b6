/** Half of the screens, with axe-core. */

import { checkScreens } from './screens-suite.mjs';

checkScreens(0);
