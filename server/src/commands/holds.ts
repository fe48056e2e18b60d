// `pharos holds`: withdrawals that the reconciler does not send without a human, decided by the operator.
import { parseArgs } from 'node:util'
import type { Hold, HoldState } from '@pharos/contract/hold'
import { holdStates } from '@pharos/contract/hold'
import { decideAs, listHolds } from '../byoip/reconcile/hold.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'
import { oneWord, parseList, parseWhole } from './words.ts'

export const holds: Command = {
  name: 'holds',
  usage: `list [--region <slug,...>] [--state ${holdStates.join('|')}|all] [--limit <n>] [--json]
             approve <id>
             reject <id>`,
  summary: `list and decide withdrawals that wait for a human

  list     the newest first; without --state those that are open
  approve  lets the named withdrawals go out, and no others
  reject   keeps them announced, and does not ask again for a day`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'list') return list(context, args)
    if (verb === 'approve') return decide(context, args, 'approved')
    if (verb === 'reject') return decide(context, args, 'rejected')
    throw new UsageError(verb === undefined ? 'Say list, approve or reject.' : `There is no holds ${verb}.`)
  },
}

async function list(context: CommandContext, args: readonly string[]): Promise<void> {
  const { filter, json } = parseFilter(args)
  await withSchema(context, async ({ owner }) => {
    const { results, count } = await listHolds({ db: owner }, { ...filter, ordering: '-id', offset: 0 })
    if (json) return context.out(`${JSON.stringify({ results, count }, null, 2)}\n`)
    for (const hold of results) context.out(described(hold))
    if (count === 0) context.out('There are no such holds.\n')
    if (count > results.length) context.out(`${count - results.length} more: --limit\n`)
  })
}

function parseFilter(args: readonly string[]) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      region: { type: 'string', multiple: true },
      state: text,
      limit: text,
      json: { type: 'boolean', default: false },
    },
  })
  const { region, state = 'open', limit = '100', json } = values
  if (state !== 'all' && !isState(state)) {
    throw new UsageError(`--state: ${state} is none of ${[...holdStates, 'all'].join(', ')}.`)
  }
  const filter = {
    ...(region === undefined ? {} : { region: parseList(region) }),
    ...(state === 'all' ? {} : { state: [state] }),
    limit: parseWhole('--limit', limit, 1, 1000),
  }
  return { filter, json }
}

function isState(word: string): word is HoldState {
  return (holdStates as readonly string[]).includes(word)
}

async function decide(
  context: CommandContext,
  args: readonly string[],
  decision: 'approved' | 'rejected',
): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const word = oneWord(positionals, 'the id of a hold: pharos holds list')
  const id = parseWhole('id', word, 1, 2 ** 31 - 1)
  await withSchema(context, async ({ owner }) => {
    const hold = await decideAs({ db: owner }, { userId: null, by: { actor: 'operator' } }, id, decision)
    context.out(described(hold))
  })
}

function described({ id, region, state, created, reason, detail, withdrawals }: Hold): string {
  const prefixes = withdrawals.map((prefix) => `  ${prefix}\n`).join('')
  return `hold ${id}  region ${region}  ${state}  ${created}  ${reason}\n  ${detail}\n${prefixes}`
}
