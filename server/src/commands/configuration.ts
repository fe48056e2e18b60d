// The configuration as commands read it: the settings of the process, checked by everything that uses them.
import { settingChecks } from '../process/setting-checks.ts'
import {
  describeConfig,
  loadConfig,
  loadKeylessConfig,
  type Config,
  type Environment,
  type Files,
  type KeylessConfig,
} from '../runtime/config.ts'
import { realFiles } from '../runtime/files.ts'

/** Reads and checks the configuration; throws a ConfigError that lists every mistake. */
export const readConfiguration = (env: Environment, files: Files = realFiles): Config =>
  loadConfig(env, files, settingChecks)

/** Reads and checks the configuration without its key ring, and creates no key. */
export const readKeylessConfiguration = (env: Environment, files: Files = realFiles): KeylessConfig =>
  loadKeylessConfig(env, files, settingChecks)

/** Returns every setting with its value and source, without secrets; throws as readConfiguration does. */
export const describeConfiguration = (env: Environment, files: Files = realFiles) =>
  describeConfig(env, files, settingChecks)
