// Prints the plan of a command, asks for confirmation and applies it: for `pharos apply` and `pharos import`.
import { createInterface } from 'node:readline/promises'
import type { Db } from '../db/postgres.ts'
import { applyPlatform, PlanOutdated, type Prepared } from '../platform/engine/apply.ts'
import { platformKinds } from '../platform/kinds/index.ts'
import { planAsData, printPlan } from '../platform/engine/print.ts'
import { PlatformError } from '../platform/engine/problem.ts'
import { CommandFailure } from './command.ts'

export type ApplyOptions = { readonly dryRun: boolean; readonly yes: boolean; readonly json: boolean }

/** `check` throws if the printed plan must not be applied. */
export async function printAndApply(
  db: Db,
  prepared: Prepared,
  { dryRun, yes, json }: ApplyOptions,
  out: (text: string) => void,
  check: () => void = () => {},
): Promise<void> {
  const { plan } = prepared
  out(
    json
      ? `${JSON.stringify(planAsData(platformKinds, plan), null, 2)}\n`
      : `${printPlan(platformKinds, plan)}\n`,
  )
  const isUnchanged = plan.changes.length === 0 && prepared.options.release !== true
  // A file without changes is the manager of its elements from now on.
  if (dryRun || (isUnchanged && prepared.document.file === null)) return
  check()
  if (!isUnchanged && !yes && !(await isConfirmed())) throw new CommandFailure('Nothing was applied.')
  await applyPlatform(platformKinds, db, prepared, new Date()).catch(explainFailure)
  if (isUnchanged) return
  if (!json) out('Applied.\n')
}

async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new CommandFailure('Nothing was applied: without a terminal for the confirmation, use --yes.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test(await terminal.question('Apply this plan? [y/N] '))
  } finally {
    terminal.close()
  }
}

export function explainFailure(error: unknown): never {
  if (error instanceof PlatformError || error instanceof PlanOutdated) throw new CommandFailure(error.message)
  throw error
}
