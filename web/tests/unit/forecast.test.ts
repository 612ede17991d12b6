import { beforeEach, describe, expect, it } from 'vitest';
import { setLanguage } from '../../src/lib/i18n/index.svelte';
import { forecastText } from '../../src/screens/forecast';

const FORECAST = { requests: 11, inputTokens: 25_000, outputTokens: 3_000, text: '' };
const PAST = { ...FORECAST, cost: 0.25, runs: 4, mostRequests: 19, mostCost: 0.5 };

describe('a forecast', () => {
  beforeEach(() => setLanguage('en'));

  it('tells the median of earlier runs and their most', () => {
    expect(forecastText(PAST)).toBe('About 11 requests, 25K tokens in, 3K out, $0.25 (median of 4 runs; most: 19 requests, $0.50).');
  });

  it('is marked as an estimate without earlier runs, and leaves out an unknown price', () => {
    expect(forecastText(FORECAST)).toBe('About 11 requests, 25K tokens in, 3K out (estimate).');
  });

  it('is told in Chinese too', async () => {
    await setLanguage('zh');
    expect(forecastText(FORECAST)).toBe('预计约 11 次请求，输入 2.5万 词元，输出 3000（估算）。');
  });
});
