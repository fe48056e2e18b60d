// `pharos import`: imports inventory from NetBox, like `pharos apply` a file. The loop of the server does the same
// every 5 minutes; this command prints its plan, and approves its paused deletions.
import { parseArgs } from 'node:util'
import { countHeld, describeHeld, evidenceOfHeld } from '../platform/engine/guard.ts'
import { prepareImport } from '../platform/import-netbox.ts'
import { platformKinds } from '../platform/kinds/index.ts'
import { netboxOf } from '../platform/parts.ts'
import { DriverError } from '../runtime/driver-error.ts'
import { explainFailure, printAndApply } from './apply-plan.ts'
import { CommandFailure, UsageError, type Command } from './command.ts'
import { parseInteger } from './parse-arguments.ts'
import { withSchema } from './ready.ts'

export const importInventory: Command = {
  name: 'import',
  usage: 'netbox [--dry-run] [--prune] [--deletions <n> --evidence <text>] [--enforce] [--yes] [--json]',
  summary: `import inventory from NetBox

  --dry-run    print the plan and change nothing
  --prune      delete what was imported and is no longer in NetBox
  --deletions  approve n deletions, if more than 3 and more than 5 % of a kind would be deleted
  --evidence   of the plan with these deletions, which the refusal shows: other deletions are refused
  --enforce    take over locations, devices, services and ports that the platform file manages
  --yes        do not ask for confirmation; required without a terminal
  --json       print the plan as JSON

  The server imports every 5 minutes with --prune if netbox_url is set. docs/netbox.md describes what is imported.`,
  async run(context) {
    const options = parseOptions(context.args)
    await withSchema(context, async ({ owner }, config) => {
      const source = netboxOf(config)
      if (!source) throw new CommandFailure('Set netbox_url and netbox_token.', 2)
      const prepared = await prepareImport(owner, source, options, new AbortController().signal).catch(
        explainRead,
      )
      const { held } = prepared
      const evidence = evidenceOfHeld(held)
      const waiting =
        `${describeHeld(platformKinds, held)} would be deleted; check the plan, then use ` +
        `--deletions ${countHeld(held)} --evidence ${evidence}`
      await printAndApply(owner, prepared, options, context.out, () => {
        if (held.length === 0 || (countHeld(held) <= options.deletions && evidence === options.evidence))
          return
        throw new CommandFailure(`Nothing was applied: ${waiting}.`)
      })
      if (options.dryRun && !options.json && held.length > 0) context.out(`Needs approval: ${waiting}\n`)
    })
  },
}

function parseOptions(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      'dry-run': flag,
      prune: flag,
      deletions: { type: 'string', default: '0' },
      evidence: { type: 'string' },
      enforce: flag,
      yes: flag,
      json: flag,
    },
    allowPositionals: true,
  })
  if (positionals.join() !== 'netbox') throw new UsageError('Name the source: pharos import netbox')
  const { prune, enforce, yes, json, evidence } = values
  const deletions = parseInteger('--deletions', values.deletions, 0, 1_000_000)
  return { prune, enforce, yes, json, deletions, evidence, dryRun: values['dry-run'] }
}

function explainRead(error: unknown): never {
  if (error instanceof DriverError) throw new CommandFailure(`Nothing was applied: ${error.message}.`)
  return explainFailure(error)
}
