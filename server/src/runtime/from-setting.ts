// Errors of a setting as errors of the configuration.
import { ConfigError } from './config.ts'

/** Returns the result of `create`; an Error becomes a ConfigError with the name of the setting. */
export function fromSetting<T>(setting: string, create: () => T): T {
  try {
    return create()
  } catch (error) {
    throw new ConfigError([`${setting}: ${(error as Error).message}`])
  }
}
