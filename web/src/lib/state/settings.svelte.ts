/** The settings of the server. Whoever shows or changes some of them has the same list. */

import { api } from '../api/client';
import type { Setting, SettingList } from '../api/types';

class Settings {
  all = $state.raw<Setting[] | null>(null);
  /** The file that they are in. */
  path = $state('');

  async load(): Promise<void> {
    this.#take(await api.settings());
  }

  /** Nothing as a value is what holds when nobody says anything. */
  async set(key: string, value: unknown): Promise<void> {
    this.#take(await api.set(key, value));
  }

  list(key: string): string[] {
    const value = this.all?.find((one) => one.key === key)?.value;
    return Array.isArray(value) ? value.map(String) : [];
  }

  #take({ settings, path }: SettingList): void {
    [this.all, this.path] = [settings, path];
  }
}

export const settings = new Settings();
