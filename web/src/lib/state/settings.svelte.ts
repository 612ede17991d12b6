/** Settings of the server, shared by all components that show or change them. */

import { api } from '../api/client';
import type { Setting, SettingList } from '../api/types';

class Settings {
  all = $state.raw<Setting[] | null>(null);
  /** Path of the settings file. */
  path = $state('');

  async load(): Promise<void> {
    this.#take(await api.settings());
  }

  /** Sets a value; `undefined` restores the default. */
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
