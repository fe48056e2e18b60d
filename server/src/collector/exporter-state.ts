// Templates and sampling rates that the decoder has learned, and names of AS numbers, on their way to the database: one row for each key, the
// newest only, so that a flood of changes is bounded. While the database is down they wait.
import type { Db } from '../db/postgres.ts'
import { reportRefused, writeRows, type RefusedRow } from '../db/write-rows.ts'
import type { SamplingRecord, TemplateRecord } from '../flow/flow-decoder.ts'
import { saveAsNames } from '../flow/flow-names.ts'
import { deleteSamplings, deleteTemplates, saveSamplings, saveTemplates } from './exporter.store.ts'
import type { TemplateKey } from './messages.ts'

/**
 * Above this limit, new keys are dropped until the database stores the queued ones: exporters repeat their templates.
 */
const waitingMax = 100_000

export type ExporterState = {
  addTemplate(template: TemplateRecord): void
  removeTemplate(key: TemplateKey): void
  addSampling(sampling: SamplingRecord): void
  removeSampling(sampling: SamplingRecord): void
  /** All of them: others are deleted. */
  setAsNames(names: ReadonlyMap<number, string>): void
  /**
   * Writes queued rows. Rejects if the database does not answer (they stay queued), and if it refuses rows, which are
   * dropped.
   */
  save(db: Db): Promise<void>
}

type ChangedSampling = { readonly sampling: SamplingRecord; readonly isOutdated: boolean }

export function createExporterState(): ExporterState {
  let templates = new Map<string, TemplateRecord | TemplateKey>()
  let samplings = new Map<string, ChangedSampling>()
  let asNames: ReadonlyMap<number, string> | undefined
  const keyOf = ({ exporter, port, version, domain, id }: TemplateKey) =>
    `${exporter} ${port} ${version} ${domain} ${id}`
  const set = <T>(map: Map<string, T>, key: string, value: T): void => {
    if (map.size < waitingMax || map.has(key)) map.set(key, value)
  }
  const setSampling = (changed: ChangedSampling): void => {
    const { exporter, port, version, domain, sampler, inIf } = changed.sampling
    set(samplings, `${exporter} ${port} ${version} ${domain} ${sampler} ${inIf}`, changed)
  }
  /** A newer value of the same key stays. */
  const putBack = <T>(from: Map<string, T>, to: Map<string, T>): void => {
    for (const [key, value] of from) if (!to.has(key)) set(to, key, value)
  }
  return {
    addTemplate: (template) => set(templates, keyOf(template), template),
    removeTemplate: (key) => set(templates, keyOf(key), key),
    addSampling: (sampling) => setSampling({ sampling, isOutdated: false }),
    removeSampling: (sampling) => setSampling({ sampling, isOutdated: true }),
    setAsNames(names) {
      asNames = names
    },
    async save(db) {
      const [changedTemplates, changedSamplings, changedNames] = [templates, samplings, asNames]
      templates = new Map()
      samplings = new Map()
      asNames = undefined
      let refused: RefusedRow<unknown>[] = []
      try {
        const all = [...changedTemplates.values()]
        const [added, removed] = [all.filter(isTemplate), all.filter((one) => !isTemplate(one))]
        refused = [
          ...(await writeRows(db, added, (some) => saveTemplates(db, some))),
          ...(await writeRows(db, removed, (some) => deleteTemplates(db, some))),
        ]
        const ofSamplings = (isOutdated: boolean) =>
          [...changedSamplings.values()]
            .filter((one) => one.isOutdated === isOutdated)
            .map(({ sampling }) => sampling)
        const [announced, outdated] = [ofSamplings(false), ofSamplings(true)]
        refused.push(
          ...(await writeRows(db, announced, (some) => saveSamplings(db, some))),
          ...(await writeRows(db, outdated, (some) => deleteSamplings(db, some))),
          ...(changedNames ? await saveAsNames(db, changedNames) : []),
        )
      } catch (error) {
        putBack(changedTemplates, templates)
        putBack(changedSamplings, samplings)
        asNames ??= changedNames
        throw error
      }
      reportRefused('templates, sampling rates and names', refused)
    },
  }
}

const isTemplate = (one: TemplateRecord | TemplateKey): one is TemplateRecord => 'fields' in one
