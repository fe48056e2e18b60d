// `pharos approvals`: changes of any area that are not applied without approval, decided by the operator.
import { parseArgs } from 'node:util'
import {
  approvalStates,
  type Approval,
  type ApprovalDetails,
  type ApprovalItem,
} from '@pharos/contract/operator/approval'
import { approvalAreas as areaNames } from '@pharos/contract/reason/approval-reason'
import { decideAs, getApproval, listApprovals } from '../approval/approval.ts'
import { basicApprovalAreas as areas } from '../approval/parts.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'
import { parseInteger, parseList, parseOneArgument } from './parse-arguments.ts'

export const approvals: Command = {
  name: 'approvals',
  usage: `list [--area <${areaNames.join('|')},...>] [--region <slug,...>] [--state ${approvalStates.join('|')}|all] [--limit <n>] [--json]
             show <id> [--json]
             approve <id> [--note <text>]
             reject <id> [--note <text>]`,
  summary: `list and decide changes that need approval

  list     the newest first; without --state those that are open
  show     one approval with its changes, and who asked for them
  approve  applies the changes of the approval, and no others
  reject   keeps everything as it is; withdrawals of routes are asked again after a day`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'list') return list(context, args)
    if (verb === 'show') return show(context, args)
    if (verb === 'approve') return decide(context, args, 'approved')
    if (verb === 'reject') return decide(context, args, 'rejected')
    throw new UsageError(
      verb === undefined ? 'Add list, show, approve or reject.' : `pharos approvals has no command ${verb}.`,
    )
  },
}

async function list(context: CommandContext, args: readonly string[]): Promise<void> {
  const { filter, json } = parseFilter(args)
  await withSchema(context, async ({ owner }) => {
    const query = { ...filter, ordering: '-id', offset: 0 } as const
    const { results, count } = await listApprovals({ db: owner, areas }, null, query)
    if (json) return context.out(`${JSON.stringify({ results, count }, null, 2)}\n`)
    for (const approval of results) context.out(heading(approval))
    if (count === 0) context.out('No approvals match.\n')
    if (count > results.length) context.out(`${count - results.length} more: --limit\n`)
  })
}

function parseFilter(args: readonly string[]) {
  const text = { type: 'string' } as const
  const texts = { type: 'string', multiple: true } as const
  const json = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args: [...args],
    options: { area: texts, region: texts, state: text, limit: text, json },
  })
  const { area, region, state = 'open', limit = '100' } = values
  const filter = {
    ...(area === undefined
      ? {}
      : { area: parseList(area).map((word) => parseName('--area', word, areaNames)) }),
    ...(region === undefined ? {} : { region: parseList(region) }),
    ...(state === 'all' ? {} : { state: [parseName('--state', state, approvalStates)] }),
    limit: parseInteger('--limit', limit, 1, 1000),
  }
  return { filter, json: values.json }
}

function parseName<Name extends string>(option: string, word: string, names: readonly Name[]): Name {
  const name = names.find((one) => one === word)
  if (name === undefined) throw new UsageError(`${option}: ${word} is none of ${names.join(', ')}.`)
  return name
}

async function show(context: CommandContext, args: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const id = parseId(positionals)
  await withSchema(context, async ({ owner }) => {
    const approval = await getApproval({ db: owner, areas }, null, id)
    context.out(values.json ? `${JSON.stringify(approval, null, 2)}\n` : describedInFull(approval))
  })
}

const parseId = (args: readonly string[]): number =>
  parseInteger('id', parseOneArgument(args, 'the id of an approval: pharos approvals list'), 1, 2 ** 31 - 1)

async function decide(
  context: CommandContext,
  args: readonly string[],
  decision: 'approved' | 'rejected',
): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: { note: { type: 'string' } },
    allowPositionals: true,
  })
  const id = parseId(positionals)
  await withSchema(context, async ({ owner }) => {
    context.out(
      heading(await decideAs({ db: owner, areas }, { actor: 'operator' }, id, decision, values.note)),
    )
  })
}

function heading({
  id,
  area,
  subject,
  team,
  state,
  created,
  reason,
  item_count,
  ...approval
}: Approval): string {
  const facts = [
    area,
    subject.name,
    team && `team ${team.name}`,
    state,
    created,
    reason,
    `${item_count} changes`,
  ]
  const note = approval.note === null ? '' : `  note: ${approval.note}\n`
  return `approval ${id}  ${facts.filter(Boolean).join('  ')}\n  ${approval.detail}\n${note}`
}

function describedInFull(approval: ApprovalDetails): string {
  const { area, items, item_count: count } = approval
  const more = count > items.length ? `  and ${count - items.length} more\n` : ''
  return `${heading(approval)}${items.map((item) => itemLine(item, area === 'routes')).join('')}${more}`
}

function itemLine(item: ApprovalItem, isRoute: boolean): string {
  const { change, value, router, from, to, team, requested } = item
  const at = router === null ? '' : ` on ${router}`
  const result = from === null ? '' : `: ${from} -> ${to}`
  const who =
    requested === null
      ? 'no request found'
      : `${requested.action} by ${requested.by_name ?? requested.by} at ${requested.at}`
  const asked = isRoute ? `  ${team === null ? 'no team' : `team ${team.name}`}  ${who}` : ''
  return `  ${change} ${value}${at}${result}${asked}\n`
}
