// `pharos apply`: makes the database agree with the operator's platform file. The plan is always shown first.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { applyPlatform, PlanOutdated, preparePlatform, type PlatformFile } from '../platform/apply.ts'
import { planAsJson, printPlan } from '../platform/print.ts'
import { PlatformError } from '../platform/problem.ts'
import { CommandFailure, UsageError, type Command } from './command.ts'
import { withSchema } from './ready.ts'

export const apply: Command = {
  name: 'apply',
  usage: '-f <platform.yaml> [--dry-run] [--prune] [--enforce] [--yes] [--json]',
  summary: `make the database agree with a platform file

  --dry-run  show the plan and change nothing
  --prune    delete what the sections of the file do not name (withdraws first)
  --enforce  the file wins over what teams have switched since
  --yes      do not ask; needed where there is no terminal
  --json     the plan for programs

  Exit code: 0 it agrees (with --dry-run: the file can be applied), 1 nothing was applied, 2 used wrongly.
  The file: docs/platform-file.md.`,
  async run(context) {
    const options = parseOptions(context.args)
    const file = openFile(options.file)
    await withSchema(context, async ({ owner }, config) => {
      const prepared = await preparePlatform(owner, file, config.secret, options).catch(explain)
      const { plan } = prepared
      context.out(options.json ? `${JSON.stringify(planAsJson(plan), null, 2)}\n` : `${printPlan(plan)}\n`)
      if (options.dryRun || plan.changes.length === 0) return
      if (!options.yes && !(await agreed())) throw new CommandFailure('Nothing was applied.')
      await applyPlatform(owner, prepared, new Date()).catch(explain)
      if (!options.json) context.out('Applied.\n')
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
      yes: flag,
      json: flag,
    },
  })
  if (values.file === undefined) throw new UsageError('Name the platform file: -f platform.yaml')
  const { file, prune, enforce, yes, json } = values
  return { file, prune, enforce, yes, json, dryRun: values['dry-run'] }
}

function openFile(path: string): PlatformFile {
  const folder = dirname(path)
  try {
    return {
      name: path,
      text: readFileSync(path, 'utf8'),
      readText: (named) => readFileSync(resolve(folder, named), 'utf8'),
    }
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read: ${(error as Error).message}`)
  }
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new CommandFailure('Nothing was applied: without a terminal to ask on, say --yes.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test(await terminal.question('Apply this plan? [y/N] '))
  } finally {
    terminal.close()
  }
}

function explain(error: unknown): never {
  if (error instanceof PlatformError || error instanceof PlanOutdated) throw new CommandFailure(error.message)
  throw error
}
