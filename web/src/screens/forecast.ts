/** The forecast of a run, in the words of the page's language. */

import type { Forecast } from '../lib/api/types';
import { compact, count, money, number, t } from '../lib/i18n/index.svelte';

/** Returns one line: what is expected, and where that comes from. */
export function forecastText({ requests, inputTokens, outputTokens, cost, runs = 0, mostRequests, mostCost }: Forecast): string {
  const paid = (amount: number | null | undefined): string => (typeof amount === 'number' ? t('forecast.cost', { cost: money(amount) }) : '');
  const expected = count('forecast.expected', requests, { sent: compact(inputTokens), received: compact(outputTokens), cost: paid(cost) });
  const origin = runs === 0 ? t('forecast.estimate') : count('forecast.runs', runs, { most: number(mostRequests ?? requests), cost: paid(mostCost) });
  return t('forecast.line', { expected, origin });
}
