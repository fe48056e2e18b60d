// How far the received light of ports is above the low limits of their modules, of many ports in one statement.
import type { ReadStatement } from '../../db/postgres.ts'
import { listMargins, listMarginPorts, type MarginPort } from './light-margins.store.ts'

export type LightMargins = {
  readonly isHeld: boolean
  /** Whether the module of the port states a low limit. */
  readonly hasLimit: boolean
  /** dB of the weakest lane by the start of its 5 minutes. */
  readonly values: ReadonlyMap<number, number>
}

/** Returns the margins by key. */
export async function readLightMargins(
  read: ReadStatement,
  ports: readonly MarginPort[],
): Promise<ReadonlyMap<number, LightMargins>> {
  if (ports.length === 0) return new Map()
  const [held, margins] = await Promise.all([listMarginPorts(read, ports), listMargins(read, ports)])
  const limits = new Map(held.map(({ key, has_limit }) => [key, has_limit]))
  const values = Map.groupBy(margins, ({ key }) => key)
  return new Map(
    ports.map(({ key }) => [
      key,
      {
        isHeld: limits.has(key),
        hasLimit: limits.get(key) ?? false,
        values: new Map((values.get(key) ?? []).map(({ start_ms, margin }) => [start_ms, round(margin)])),
      },
    ]),
  )
}

const round = (db: number): number => Math.round(db * 100) / 100
