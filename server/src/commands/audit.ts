// `pharos audit`: verifies that the audit log is unchanged, and prints the head to record for a later verification.
import { counted } from '@pharos/contract/counted'
import { parseArgs } from 'node:util'
import { formatHead, parseHead } from '../audit/head.ts'
import { findHead, type Head } from '../audit/seal.store.ts'
import { verifyAudit, type Verification, type VerifyOptions } from '../audit/verify.ts'
import type { Broken, BrokenKind } from '../audit/verify-chain.ts'
import { CommandFailure, UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'
import { parseList, parseInteger } from './parse-arguments.ts'

export const audit: Command = {
  name: 'audit',
  usage: `verify [--from <sequence>] [--head <sequence>:<hash>] [--retired-key <id,...>]
             head`,
  summary: `verify that the audit log is unchanged

  verify  checks the chain of seals from the oldest that is kept; can run at any time
  head    prints the newest seal as <sequence>:<hash>; store it where the database's administrators cannot change it

  --from         start at this seal, which is not verified itself
  --head         also check that a recorded head still exists: whether the end was truncated
  --retired-key  keys that have been removed from PHAROS_SECRET: entries sealed with them are skipped

  Exit code: 0 no errors, 1 errors found (the first ones are printed).`,
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'verify') return verify(context, args)
    if (verb === 'head') return head(context, args)
    throw new UsageError(verb === undefined ? 'Add verify or head.' : `pharos audit has no command ${verb}.`)
  },
}

async function head(context: CommandContext, args: readonly string[]): Promise<void> {
  parseArgs({ args: [...args], options: {} })
  await withSchema(context, async ({ owner }) => {
    const newest = await findHead(owner)
    if (!newest) throw new CommandFailure('No entry has been sealed yet.')
    context.out(`${formatHead(newest)}\n`)
  })
}

async function verify(context: CommandContext, args: readonly string[]): Promise<void> {
  const options = parseOptions(args)
  await withSchema(context, async ({ owner }, { secret }) => {
    const onProgress = (seals: number) => context.out(`${counted(seals, 'seal')}\n`)
    const found = await verifyAudit({ db: owner, ring: secret }, { ...options, onProgress })
    context.out(described(found))
    if (found.brokenCount > 0) throw new CommandFailure('The audit log was changed.')
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
    ...(from === undefined ? {} : { from: parseInteger('--from', from, 1, 10 ** 15) }),
    ...(noted === undefined ? {} : { noted: headOf(noted) }),
    ...(retired === undefined ? {} : { retiredKeys: new Set(parseList(retired)) }),
  }
}

function headOf(text: string): Head {
  const parsed = parseHead(text)
  if (!parsed) throw new UsageError(`--head: ${text} is not a head; pharos audit head prints one.`)
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
  if (brokenCount > broken.length) lines.push(`and ${counted(brokenCount - broken.length, 'more error')}`)
  if (waiting > 0)
    lines.push(
      `warning: ${counted(waiting, 'entry waits', 'entries wait')} longer than a minute to be sealed; does a reconciler run?`,
    )
  if (expired) lines.push(`older months were deleted by the retention, last at ${expired}`)
  lines.push(
    `${counted(right, 'entry is', 'entries are')} unchanged, ${counted(notCheckable, 'is', 'are')} not checkable`,
  )
  lines.push(head ? `head ${formatHead(head)}` : 'no entry has been sealed yet')
  return `${lines.join('\n')}\n`
}

const messages: Record<BrokenKind, string> = {
  'beginning missing': 'the entries before this seal are missing, and not because of the retention',
  'missing seal': 'a seal is missing',
  'missing entry': 'the entry is missing',
  changed: 'the entry or its seal was changed',
  'wrong order': 'the seal is in the wrong position',
  'unknown key': 'not checkable: its key is not in PHAROS_SECRET',
  'end cut off': 'the chain ends before the given head',
  'other head': 'the seal of the given head is missing or differs',
  'head expired': 'the given head was deleted with its month; record a newer one',
}

function placeOf({ kind, sequence, entryId, at }: Broken): string {
  const seal = sequence === null ? [] : [`seal ${sequence}`]
  const entry = entryId === null ? [] : [`entry ${entryId} of ${at}`]
  return `${[...seal, ...entry].join(', ')}: ${messages[kind]}`
}
