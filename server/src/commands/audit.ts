// `pharos audit`: whether the audit is still as it was written, and the head to note so that a later answer is worth more.
import { parseArgs } from 'node:util'
import { formatHead, parseHead } from '../audit/head.ts'
import { findHead, type Head } from '../audit/seal.store.ts'
import { verifyAudit, type Verification, type VerifyOptions } from '../audit/verify.ts'
import type { Broken, BrokenKind } from '../audit/verify-chain.ts'
import { CommandFailure, UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'
import { parseList, parseWhole } from './words.ts'

export const audit: Command = {
  name: 'audit',
  usage: `verify [--from <sequence>] [--head <sequence>:<hash>] [--retired-key <id,...>]
             head`,
  summary: `verify that the audit is as it was written

  verify  walks the chain of seals from the oldest that is kept; may be run at any time
  head    prints the newest seal as <sequence>:<hash>; keep it where the database's masters cannot reach

  --from         begin at this seal, taken as it stands
  --head         also look whether a head that was noted is still there: whether the end was cut off
  --retired-key  keys that have left PHAROS_SECRET: what they sealed is passed over

  Exit code: 0 everything is right, 1 something is not (the first places are printed).`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'verify') return verify(context, args)
    if (verb === 'head') return head(context, args)
    throw new UsageError(verb === undefined ? 'Say verify or head.' : `There is no audit ${verb}.`)
  },
}

async function head(context: CommandContext, args: readonly string[]): Promise<void> {
  parseArgs({ args: [...args], options: {} })
  await withSchema(context, async ({ owner }) => {
    const newest = await findHead(owner)
    if (!newest) throw new CommandFailure('Nothing has been sealed yet.')
    context.out(`${formatHead(newest)}\n`)
  })
}

async function verify(context: CommandContext, args: readonly string[]): Promise<void> {
  const options = parseOptions(args)
  await withSchema(context, async ({ owner }, { secret }) => {
    const onProgress = (seals: number) => context.out(`${seals} seals\n`)
    const found = await verifyAudit({ db: owner, ring: secret }, { ...options, onProgress })
    context.out(described(found))
    if (found.brokenCount > 0) throw new CommandFailure('The audit is not as it was written.')
  })
}

function parseOptions(args: readonly string[]): VerifyOptions {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { from: text, head: text, 'retired-key': { type: 'string', multiple: true } },
  })
  const { from, head: noted, 'retired-key': retired } = values
  return {
    ...(from === undefined ? {} : { from: parseWhole('--from', from, 1, 10 ** 15) }),
    ...(noted === undefined ? {} : { noted: headOf(noted) }),
    ...(retired === undefined ? {} : { retiredKeys: new Set(parseList(retired)) }),
  }
}

function headOf(text: string): Head {
  const parsed = parseHead(text)
  if (!parsed) throw new UsageError(`--head: ${text} is no head; pharos audit head prints one.`)
  return parsed
}

function described({
  right,
  notCheckable,
  broken,
  brokenCount,
  waiting,
  head,
  expired,
}: Verification): string {
  const lines = broken.map((place) => `broken: ${placeOf(place)}`)
  if (brokenCount > broken.length) lines.push(`and ${brokenCount - broken.length} more broken places`)
  if (waiting > 0)
    lines.push(`warning: ${waiting} entries wait longer than a minute for their seal; does a reconciler run?`)
  if (expired) lines.push(`older months were dropped by the retention, last at ${expired}`)
  lines.push(`${right} entries are as they were sealed, ${notCheckable} are not checkable`)
  lines.push(head ? `head ${formatHead(head)}` : 'nothing has been sealed yet')
  return `${lines.join('\n')}\n`
}

const words: Record<BrokenKind, string> = {
  'beginning missing': 'what stood before this seal is gone, and not by the retention',
  'missing seal': 'a seal is gone',
  'missing entry': 'the entry is gone',
  changed: 'the entry or its seal was changed',
  'wrong order': 'the seal stands in the wrong place',
  'unknown key': 'not checkable: its key is not in PHAROS_SECRET',
  'end cut off': 'the chain ends before the head that was noted',
  'other head': 'the seal is gone, or is not the one that was noted',
  'head expired': 'the head that was noted was dropped with its month; note a newer one',
}

function placeOf({ kind, sequence, entryId, at }: Broken): string {
  const seal = sequence === null ? [] : [`seal ${sequence}`]
  const entry = entryId === null ? [] : [`entry ${entryId} of ${at}`]
  return `${[...seal, ...entry].join(', ')}: ${words[kind]}`
}
