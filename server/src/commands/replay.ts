// `pharos replay`: has stored deliveries read again, after a normaliser or a source's settings were fixed.
import { counted } from '@pharos/contract/counted'
import { parseArgs } from 'node:util'
import { replayDeliveries } from '../events/ingest/replay.ts'
import type { ReplayOptions } from '../events/ingest/replay.store.ts'
import { listSourceKeys } from '../events/ingest/source.store.ts'
import { writeAudit } from '../db/audit.ts'
import type { Db } from '../db/postgres.ts'
import { didYouMean } from '../text/did-you-mean.ts'
import { CommandFailure, UsageError, type Command } from './command.ts'
import { withSchema } from './ready.ts'
import { parsePast } from './parse-arguments.ts'

export const replay: Command = {
  name: 'replay',
  usage: '[--source <key>] [--since <time|span>] [--state failed|done]',
  summary: `read stored deliveries again

  --source  of this source only
  --since   received at this time or later: 2026-01-31T12:00:00Z, or a span such as 12h or 7d
  --state   failed: only those that could not be read, completely or in part; events are not rebuilt.
            done: only those that were read, completely or in part

  The deliveries are only marked: a running server (role collector) reads them. The events of that time are rebuilt from
  their deliveries and stay unchanged until then.`,
  async run(context) {
    const options = parseOptions(context.args)
    await withSchema(context, async ({ owner }) => {
      if (options.sourceKey !== undefined) await requireSource(owner, options.sourceKey)
      const { deliveries, events } = await replayDeliveries(owner, options)
      await writeAudit(owner, {
        teamId: null,
        actor: 'operator',
        action: 'delivery.replay',
        target: `source:${options.sourceKey ?? '*'}`,
        after: { ...options, deliveries, events },
      })
      context.out(
        `${counted(deliveries, 'delivery', 'deliveries')} will be read again; ${counted(events, 'event is', 'events are')} rebuilt.\n`,
      )
    })
  },
}

function parseOptions(args: readonly string[]): ReplayOptions {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ args: [...args], options: { source: text, since: text, state: text } })
  const { source, since, state } = values
  // An empty variable of a script must not mean "all".
  if (source === '') throw new UsageError('--source: name a source.')
  if (state !== undefined && state !== 'failed' && state !== 'done') {
    throw new UsageError(`--state: ${state} is neither failed nor done.`)
  }
  return {
    ...(source === undefined ? {} : { sourceKey: source }),
    ...(since === undefined ? {} : { since: parsePast('--since', since, new Date()) }),
    ...(state === undefined ? {} : { state }),
  }
}

async function requireSource(db: Db, key: string): Promise<void> {
  const keys = await listSourceKeys(db)
  if (keys.includes(key)) return
  throw new CommandFailure(
    `There is no source ${key}${didYouMean(key, keys) || `; there are ${keys.join(', ') || 'none'}`}.`,
  )
}
