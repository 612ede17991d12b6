import { beforeEach, describe, expect, it } from 'vitest';
import { dismiss, toast, toasts } from '../../src/lib/state/toasts.svelte';

const messages = (): string[] => toasts().map((one) => one.message);

describe('messages', () => {
  beforeEach(() => {
    for (const one of toasts()) dismiss(one.id);
  });

  it('that tell of an error stay, whatever comes after them', () => {
    toast({ tone: 'err', message: 'no' });
    for (const message of ['a', 'b', 'c', 'd']) toast({ tone: 'ok', message });
    expect(messages()).toEqual(['no', 'c', 'd']);
    for (const message of ['two', 'three', 'four']) toast({ tone: 'err', message });
    toast({ tone: 'ok', message: 'e' });
    expect(messages()).toEqual(['no', 'two', 'three', 'four', 'e']);
  });

  it('that tell of the same error are one', () => {
    toast({ tone: 'err', message: 'no' });
    toast({ tone: 'err', message: 'no' });
    expect(messages()).toEqual(['no']);
  });
});
