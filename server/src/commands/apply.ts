// `pharos apply`: makes the database match a platform file. The plan is always printed first.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Postgres } from '../db/postgres.ts'
import { preparePlatform } from '../platform/engine/apply.ts'
import { parseYaml } from '../platform/engine/document.ts'
import { platformKinds } from '../platform/kinds/index.ts'
import type { Config } from '../runtime/config.ts'
import { explainFailure, printAndApply } from './apply-plan.ts'
import { CommandFailure, UsageError, type Command } from './command.ts'
import { withSchema } from './ready.ts'

export const apply: Command = {
  name: 'apply',
  usage: '-f <platform.yaml> [--dry-run] [--prune] [--enforce | --release] [--yes] [--json]',
  summary: `make the database match a platform file

  --dry-run  print the plan and change nothing
  --prune    delete what the sections of the file do not name (withdraws first)
  --enforce  overwrite what teams and users have changed since, and take over what the portal manages
  --release  hand the elements of the file over to the portal
  --yes      do not ask for confirmation; required without a terminal
  --json     print the plan as JSON

  Exit code: 0 the database agrees (with --dry-run: the file can be applied), 1 nothing was applied, 2 wrong usage.
  The file is described in docs/platform-file.md.`,
  async run(context) {
    const options = parseOptions(context.args)
    const document = parseYaml(options.file, readFile(options.file))
    const readText = (named: string) => readFileSync(resolve(dirname(options.file), named), 'utf8')
    const work = async ({ owner }: Postgres, { secret: ring }: Config) => {
      const deps = { ring, readText }
      const prepared = await preparePlatform(platformKinds, owner, document, deps, options).catch(
        explainFailure,
      )
      await printAndApply(owner, prepared, options, context.out)
    }
    await withSchema(context, work, (dataDir) => {
      if (!options.json) context.out(`Creating a new database in ${dataDir}.\n`)
    })
  },
}

function parseOptions(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      file: { type: 'string', short: 'f' },
      'dry-run': flag,
      prune: flag,
      enforce: flag,
      release: flag,
      yes: flag,
      json: flag,
    },
  })
  if (values.file === undefined) throw new UsageError('A platform file is required: -f platform.yaml')
  const { file, prune, enforce, release, yes, json } = values
  if (enforce && release) throw new UsageError('--enforce and --release exclude each other')
  return { file, prune, enforce, release, yes, json, dryRun: values['dry-run'] }
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read: ${(error as Error).message}`)
  }
}
