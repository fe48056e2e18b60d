// `pharos support-bundle`: writes the state of the installation to a file for support, without secrets.
import { writeFileSync } from 'node:fs'
import { unescape } from 'node:querystring'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { createSupportBundle } from '../status/support-bundle.ts'
import type { Config, Environment } from '../runtime/config.ts'
import { describeConfiguration } from './configuration.ts'
import { CommandFailure, UsageError, withPostgres, type Command } from './command.ts'
import { parsePast } from './parse-arguments.ts'

export const supportBundle: Command = {
  name: 'support-bundle',
  usage: '--out <file> [--since <span|time>]',
  summary: `write the state of the installation to a file for support, without secrets

  --out    a new file: JSON, compressed with gzip, at most 20 MB; zless prints it
  --since  start of the counts, such as 12h or 2026-01-31T12:00:00Z; by default an hour ago

  Contains settings, versions, migrations, the status with processes, loops and holds, queues, counts of recent changes, sizes of
  tables, slow statements if the extension pg_stat_statements exists, and metrics of the process at the address of the settings. It
  has no secrets and no rows of customers. A part that cannot be read is named, and the others are written.`,
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: { out: { type: 'string' }, since: { type: 'string', default: '1h' } },
    })
    const { out } = values
    if (out === undefined)
      throw new UsageError('Add --out with the name of a new file, such as bundle.json.gz.')
    const since = parsePast('--since', values.since, new Date())
    const settings = describeConfiguration(context.env)
    await withPostgres(context, async (postgres, config) => {
      const secrets = secretTexts(config, context.env)
      const deps = { postgres, config, settings, secrets, now: () => new Date() }
      const { text, problems } = await createSupportBundle(deps, since)
      const bytes = gzipSync(text)
      writeNew(out, bytes)
      for (const { part, problem } of problems) context.out(`not read: ${part}: ${problem}\n`)
      context.out(
        `${out}: ${Math.ceil(bytes.length / 1024)} KB. Look through it before you pass it on: zless ${out}\n`,
      )
    })
  },
}

function writeNew(path: string, bytes: Buffer): void {
  try {
    writeFileSync(path, bytes, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new CommandFailure(`The bundle was not written: ${(error as Error).message}`)
  }
}

/** Secrets of the settings, as they are and as the password of an address. The keys of PHAROS_SECRET are not readable from the configuration. */
function secretTexts(config: Config, env: Environment): string[] {
  const { databaseUrl, clickhouseUrl, mailUrl, operatorWebhookUrl, operatorWebhookSecret, netboxToken } =
    config
  const urls = [databaseUrl, clickhouseUrl, mailUrl, operatorWebhookUrl].filter((url) => url !== null)
  const passwords = urls.flatMap((url) => {
    const password = URL.parse(url)?.password ?? ''
    return [password, unescape(password)]
  })
  const texts = [operatorWebhookSecret, netboxToken].filter((text) => text !== null)
  return [...urls, ...passwords, ...texts, ...(env['PHAROS_SECRET']?.split(',') ?? [])]
}
