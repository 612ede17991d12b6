import type { LocalServer, Models, SetModel } from '../lib/api/types';

/** Returns what saves a model of a local server: under the name that it has already, else under a free one. */
export function modelToSave({ profile, baseUrl }: Pick<LocalServer, 'profile' | 'baseUrl'>, model: string, { models, profiles }: Models): { name: string; body: SetModel } {
  const isUsual = profiles.some((one) => one.name === profile && one.baseUrl === baseUrl);
  const body: SetModel = { model, profile, noKey: true, useIt: true, ...(isUsual ? {} : { baseUrl }) };
  const known = models.find((one) => one.profile === profile && one.model === model);
  const taken = new Set(models.map((one) => one.name));
  // Names hold letters, digits, dots and hyphens.
  const plain = model.replace(/[^\w.-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '') || profile;
  const free = [plain, `${profile}-${plain}`].find((name) => !taken.has(name));
  return { name: known?.name ?? free ?? `${profile}-${plain}-${taken.size}`, body };
}
