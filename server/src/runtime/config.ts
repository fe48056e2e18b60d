// Reads the settings of the process: environment over pharos.yaml over defaults. All errors are reported together, each
// with its variable or its file and line. It accesses the outside only through `Files`.
import { counted } from '@pharos/contract/counted'
import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { readYamlSettings, type GivenSettings, type Located } from './config-file.ts'
import { isLoopback } from '../net/loopback.ts'
import { parseMailbox } from '../text/mailbox.ts'
import { parseEmail } from '../text/email.ts'
import { didYouMean } from '../text/did-you-mean.ts'
import { createSchemaCheck } from '../text/schema-error.ts'
import { createKeyRing, type KeyRing } from './secrets.ts'
import {
  isNumber,
  acceptedValuesOf,
  meaningOf,
  settingNames,
  settingsSchema,
  variableOf,
  type SettingName,
  type Settings,
} from './settings.ts'

type Camel<S extends string> = S extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Camel<Rest>>}`
  : S

/** The settings in the code's spelling, `database_url` as `databaseUrl`; the secret as a key ring. */
export type Config = {
  readonly [K in Exclude<SettingName, 'secret'> as Camel<K>]: Settings[K]
} & { readonly secret: KeyRing }

export type Environment = Readonly<Record<string, string | undefined>>

/** The files that configuration reads and, for the generated secret, writes. */
export type Files = {
  /** Returns the text of a file; undefined if it does not exist. */
  read(path: string): string | undefined
  /** Returns the permission bits of a file, such as 0o600. */
  mode(path: string): number
  /** Writes a new file and creates its directory; throws EEXIST if the file exists. */
  create(path: string, text: string, mode: number): void
}

/** All errors of the configuration, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** The settings, and the source of each: `default`, a variable, or `pharos.yaml:3`. */
export type ReadSettings = {
  readonly settings: Settings
  readonly sources: Readonly<Record<SettingName, string>>
}

/**
 * Checks of single settings by the code that uses them, such as the drivers. A check throws an Error with the problem, reads no
 * file and opens no connection. Settings that are null are not checked.
 */
export type SettingChecks = {
  readonly [K in SettingName]?: (value: NonNullable<Settings[K]>) => void
}

/** Reads the settings without creating files. Throws a ConfigError that lists every mistake. */
export function readSettings(env: Environment, files: Files, checks: SettingChecks = {}): ReadSettings {
  const problems: string[] = []
  const given = { ...readFile(env, files, problems), ...readEnvironment(env, files, problems) }
  const settings: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  for (const name of settingNames) {
    const found = given[name]
    settings[name] = found ? found.value : structuredClone(meaningOf(name).byDefault)
    sources[name] = found ? found.source : 'default'
    if (found) checkSetting(name, found, checks, problems)
  }
  if (problems.length === 0) checkTogether(settings as Settings, sources, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return { settings: settings as Settings, sources: sources as ReadSettings['sources'] }
}

/**
 * Returns the configuration of the process. Creates `<data_dir>/secret` (mode 0600) if no secret is set and the file does not
 * exist; refuses a file that others may read. Throws a ConfigError that lists every error.
 */
export function loadConfig(env: Environment, files: Files, checks?: SettingChecks): Config {
  const { settings } = readSettings(env, files, checks)
  const secrets = settings.secret.length > 0 ? settings.secret : generatedSecrets(settings.data_dir, files)
  return { ...withoutSecret(settings), secret: createKeyRing(secrets) } as Config
}

/** The configuration without its key ring. */
export type KeylessConfig = Omit<Config, 'secret'> & {
  /** The path at which `loadConfig` would create a secret; undefined if it exists. */
  readonly newSecretPath: string | undefined
}

/**
 * Returns the configuration without the key ring, and creates no files. Throws a ConfigError that lists every error.
 */
export function loadKeylessConfig(env: Environment, files: Files, checks?: SettingChecks): KeylessConfig {
  const { settings } = readSettings(env, files, checks)
  const path = secretPath(settings.data_dir)
  const hasSecret = settings.secret.length > 0 || files.read(path) !== undefined
  return { ...withoutSecret(settings), newSecretPath: hasSecret ? undefined : path }
}

function withoutSecret(settings: Settings): Omit<Config, 'secret'> {
  const { secret: _, ...rest } = settings
  const entries = Object.entries(rest).map(([name, value]) => [camel(name), value] as const)
  return Object.fromEntries(entries) as Omit<Config, 'secret'>
}

/** One line of `pharos config`; a secret is replaced by a displayable form. */
export type DescribedSetting = {
  readonly name: SettingName
  readonly variable: string
  readonly value: unknown
  readonly source: string
}

/** Returns every setting with its value and source, secrets redacted. Creates no file. */
export function describeConfig(
  env: Environment,
  files: Files,
  checks?: SettingChecks,
): readonly DescribedSetting[] {
  const { settings, sources } = readSettings(env, files, checks)
  return settingNames.map((name) => ({
    name,
    variable: variableOf(name),
    value: meaningOf(name).secret ? redacted(name, settings) : settings[name],
    source: sources[name],
  }))
}

function redacted(name: SettingName, settings: Settings): string | null {
  if (name === 'secret') {
    const count = settings.secret.length
    return count > 0 ? `(${counted(count, 'key')})` : `(in ${secretPath(settings.data_dir)})`
  }
  const value = settings[name]
  if (value === null) return null
  const url = URL.canParse(String(value)) ? new URL(String(value)) : undefined
  if (!url) return '(set)'
  // The path of a database is its name; that of a chat's webhook is its secret.
  const path = name === 'operator_webhook_url' ? '/***' : url.pathname
  return `${url.protocol}//${url.username ? '***@' : ''}${url.host}${path}`
}

/** Returns the URL of the server for users: the `public_url`, or one built from host and port. */
export function publicUrl(config: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  return (
    config.publicUrl ?? `http://${isIP(config.host) === 6 ? `[${config.host}]` : config.host}:${config.port}`
  )
}

function readFile(env: Environment, files: Files, problems: string[]): GivenSettings {
  const path = env['PHAROS_CONFIG'] ?? 'pharos.yaml'
  const text = files.read(path)
  if (text !== undefined) return readYamlSettings(path, text, problems)
  if (env['PHAROS_CONFIG'] !== undefined) problems.push(`PHAROS_CONFIG: there is no file ${path}`)
  return {}
}

function readEnvironment(env: Environment, files: Files, problems: string[]): GivenSettings {
  const given: GivenSettings = {}
  const names = new Map(settingNames.map((name) => [variableOf(name), name]))
  for (const [variable, text] of Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (text === undefined || variable === 'PHAROS_CONFIG' || variable.startsWith('PHAROS_TEST_')) continue
    if (!/^(PHAROS_|(DATABASE|CLICKHOUSE)_URL(_FILE)?$)/.test(variable)) continue
    // The path of a file may itself be a setting: its name takes precedence over the suffix.
    const fromFile = !names.has(variable) && variable.endsWith('_FILE')
    const name = names.get(fromFile ? variable.slice(0, -'_FILE'.length) : variable)
    if (!name)
      problems.push(`${variable}: there is no such setting${didYouMean(variable, [...names.keys()])}`)
    else if (fromFile && env[variableOf(name)] !== undefined)
      problems.push(`${variable}: ${variableOf(name)} is set too; set one of them`)
    else {
      const value = fromFile ? textOfFile(variable, text, files, problems) : text
      if (value !== undefined) readVariable(variable, name, value, given, problems)
    }
  }
  return given
}

function textOfFile(variable: string, path: string, files: Files, problems: string[]): string | undefined {
  try {
    const text = files.read(path)
    if (text !== undefined) return text.replace(/\r?\n$/, '')
    problems.push(`${variable}: there is no file ${path}`)
  } catch (error) {
    problems.push(`${variable}: ${path} cannot be read: ${(error as Error).message}`)
  }
  return undefined
}

function readVariable(
  variable: string,
  name: SettingName,
  text: string,
  given: GivenSettings,
  problems: string[],
): void {
  if (text.trim() === '') {
    problems.push(`${variable}: it is empty; unset it, or set it to ${acceptedValuesOf(name)}`)
    return
  }
  given[name] = { value: valueOf(name, text.trim()), source: variable }
}

/** Converts the text of a variable to the setting's type; a text that does not match is kept and rejected later. */
function valueOf(name: SettingName, text: string): unknown {
  const byDefault = meaningOf(name).byDefault
  if (isNumber(name)) return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (typeof byDefault === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (Array.isArray(byDefault)) return text.split(',').map((part) => part.trim())
  return text
}

function checkSetting(
  name: SettingName,
  { value, source }: Located,
  checks: SettingChecks,
  problems: string[],
): void {
  const checkSchema = createSchemaCheck(settingsSchema.properties[name], {
    showValues: !meaningOf(name).secret,
  })
  const found = checkSchema(value)
  problems.push(...found.map((problem) => `${source}: ${name} ${problem.message}`))
  if (found.length > 0) return
  const wrong = oddity(name, value)
  if (wrong) problems.push(`${source}: ${name} ${wrong}`)
  const check = checks[name] as ((value: unknown) => void) | undefined
  const problem = check && value !== null ? parseErrorOf(() => check(value)) : undefined
  if (problem !== undefined) problems.push(`${source}: ${name}: ${problem}`)
}

/** Returns an error in a single setting that the schema cannot express. */
function oddity(name: SettingName, value: unknown): string | undefined {
  if (name === 'trusted_proxies' || name === 'operator_networks') {
    const bad = (value as string[]).find((network) => !isNetwork(network))
    return bad === undefined
      ? undefined
      : `must contain addresses and networks such as 192.0.2.0/24, not ${JSON.stringify(bad)}`
  }
  if (name === 'public_url' && value !== null && !isOrigin(value as string)) {
    return `must be an address such as https://pharos.example, without a path, not ${JSON.stringify(value)}`
  }
  if (name === 'security_contact' && value !== null && !isSecurityContact(value as string))
    return `must be mailto:security@net.example, an https:// URL or a tel: number, not ${JSON.stringify(value)}`
  if (name === 'database_url' && value !== null && !/^postgres(ql)?:\/\/./.test(value as string)) {
    return 'must begin with postgres://'
  }
  if (name === 'secret') return secretProblem(value as string[])
  if (name === 'operator_alert_emails') {
    const bad = (value as string[]).find((text) => parseEmail(text) === undefined)
    return bad === undefined
      ? undefined
      : `must contain e-mail addresses such as noc@net.example, not ${JSON.stringify(bad)}`
  }
  if (name === 'operator_webhook_url' && value !== null && !/^https?:\/\/[^/]/.test(value as string))
    return 'must be a URL such as https://hooks.net.example/pharos'
  if (name === 'mail_from' || name === 'mail_reply_to')
    return parseErrorOf(() => parseMailbox(value as string))
  return undefined
}

function secretProblem(secrets: string[]): string | undefined {
  try {
    if (secrets.length > 0) createKeyRing(secrets)
    return undefined
  } catch (error) {
    return `cannot be used: ${(error as Error).message}`
  }
}

function parseErrorOf(parse: () => unknown): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128))
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, '')
}

/** RFC 9116, 2.5.3: a URI; web addresses only with TLS. */
function isSecurityContact(text: string): boolean {
  const [, scheme, rest = ''] = /^(mailto|https|tel):([\x21-\x7e]+)$/.exec(text) ?? []
  if (scheme === 'mailto') return parseEmail(rest) !== undefined
  return scheme === 'https' ? URL.canParse(text) && rest.startsWith('//') : /^\+?[\d.()-]+$/.test(rest)
}

function checkTogether(settings: Settings, sources: Record<string, string>, problems: string[]): void {
  if (settings.demo && !isLoopback(settings.host)) {
    problems.push(
      `${sources['host']}: host is ${settings.host}, but the demo has published passwords and runs on 127.0.0.1 only; ` +
        'unset it, or use `pharos serve` with a platform file of your own',
    )
  }
  if ((settings.operator_webhook_url === null) !== (settings.operator_webhook_secret === null)) {
    const [set, missing] =
      settings.operator_webhook_url === null
        ? (['operator_webhook_secret', 'operator_webhook_url'] as const)
        : (['operator_webhook_url', 'operator_webhook_secret'] as const)
    problems.push(`${sources[set]}: ${set} needs ${missing} too`)
  }
  if ((settings.netbox_url === null) !== (settings.netbox_token === null)) {
    const [set, missing] =
      settings.netbox_url === null
        ? (['netbox_token', 'netbox_url'] as const)
        : (['netbox_url', 'netbox_token'] as const)
    problems.push(`${sources[set]}: ${set} needs ${missing} too`)
  }
  if (settings.mail_url !== null && settings.mail_from === null) {
    problems.push(`${sources['mail_url']}: mail_url needs mail_from, the address that the mails carry`)
  }
  if (settings.mail_url !== null && settings.mail_folder !== null) {
    problems.push(`${sources['mail_folder']}: mail goes to mail_folder or through mail_url; set one of them`)
  }
  if (settings.authorization_proofs.includes('rdap') && settings.rdap_bootstrap === null) {
    problems.push(
      `${sources['authorization_proofs']}: rdap needs rdap_bootstrap, where the address registries are found`,
    )
  }
  if (settings.refresh_idle_lifetime_seconds > settings.refresh_absolute_lifetime_seconds) {
    problems.push(
      `${sources['refresh_idle_lifetime_seconds']}: refresh_idle_lifetime_seconds (${settings.refresh_idle_lifetime_seconds}) ` +
        `is longer than refresh_absolute_lifetime_seconds (${settings.refresh_absolute_lifetime_seconds})`,
    )
  }
}

function secretPath(dataDir: string): string {
  return join(dataDir, 'secret')
}

/** Returns the generated secret of this installation. Two processes that start at the same time get the same one. */
function generatedSecrets(dataDir: string, files: Files): readonly string[] {
  const path = secretPath(dataDir)
  if (files.read(path) === undefined) {
    try {
      files.create(path, `${randomBytes(48).toString('base64url')}\n`, 0o600)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new ConfigError([`data_dir: ${path} cannot be written: ${(error as Error).message}`])
      }
    }
  }
  const mode = files.mode(path)
  if (mode & 0o077) {
    throw new ConfigError([`${path}: others may read it (mode ${mode.toString(8)}); run chmod 600 ${path}`])
  }
  const secrets = (files.read(path) ?? '').split(/[\s,]+/).filter((part) => part !== '')
  const wrong = secrets.length === 0 ? 'it is empty' : secretProblem(secrets)
  if (wrong) throw new ConfigError([`${path}: ${wrong}`])
  return secrets
}

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
