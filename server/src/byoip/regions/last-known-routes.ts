// The routes of a region's routers as the last full run read them, in a sealed local file. While the database does not answer,
// they may be announced to a router that has lost all routes; they never cause a withdrawal. Later withdrawals and
// changes are not in the file.
import { readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../runtime/files.ts'
import { open, seal, type KeyRing } from '../../runtime/secrets.ts'
import type { RegionRecord } from './reconcile.store.ts'
import type { Route } from './speaker.ts'

/** Routes of one router. */
export type LastKnownRouter = { readonly name: string; readonly routes: readonly Route[] }

export type LastKnownRoutes = {
  /** With the settings of its speakers, so that they can be connected before the database answers. */
  readonly region: RegionRecord
  readonly routers: readonly LastKnownRouter[]
  /** When a run last read or changed them; ISO 8601. */
  readonly at: string
  /** The epoch of the region in that run; undefined in the file of an older release. */
  readonly epoch?: number
}

/** An older plan is not used: its routes may have been withdrawn since. */
export const lastKnownRoutesAgeMsMax = 24 * 3_600_000

/** The files of one process. */
export type LastKnownRoutesFiles = {
  /** Resolves when it is kept. Calls about one region take effect in their order. */
  save(plan: LastKnownRoutes): Promise<void>
  /** Removes the file, because another process reconciles the region and this one is out of date. */
  remove(region: Pick<RegionRecord, 'slug'>): Promise<void>
  /** Returns the plans that are recent enough and can be opened; `report` is called for each other file. */
  load(now: Date, report: (file: string, problem: string) => void): LastKnownRoutes[]
}

export function createLastKnownRoutesFiles(folder: string, ring: KeyRing): LastKnownRoutesFiles {
  const fileOf = (slug: string) => join(folder, `${slug}.plan`)
  const last = new Map<string, Promise<void>>()
  /** Each call waits for the previous one, whether or not it succeeded. */
  function inOrder(slug: string, work: () => Promise<void>): Promise<void> {
    const next = (last.get(slug) ?? Promise.resolve()).catch(() => {}).then(work)
    last.set(slug, next)
    return next
  }
  return {
    save(plan) {
      const { slug } = plan.region
      const sealed = seal(ring, 'kept-plan', Buffer.from(JSON.stringify(plan)), slug)
      return inOrder(slug, () => replaceFile(fileOf(slug), sealed, { folderMode: 0o700 }))
    },
    remove: ({ slug }) => inOrder(slug, () => rm(fileOf(slug), { force: true })),
    load(now, report) {
      return listFiles(folder).flatMap((name) => {
        try {
          const sealed = readFileSync(join(folder, name))
          const text = open(ring, 'kept-plan', sealed, name.slice(0, -'.plan'.length)).toString()
          const plan = JSON.parse(text) as LastKnownRoutes
          const ageMs = now.getTime() - Date.parse(plan.at)
          if (ageMs <= lastKnownRoutesAgeMsMax) return [plan]
          report(name, `it is ${Math.round(ageMs / 3_600_000)} h old`)
        } catch (error) {
          report(name, (error as Error).message)
        }
        return []
      })
    },
  }
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.plan'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
