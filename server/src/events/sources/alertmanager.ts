// Prometheus Alertmanager: the JSON of its webhook receiver, version 4, a batch of alerts.
// Format: prometheus.io/docs/alerting/latest/configuration/#webhook_config and, for the types,
// github.com/prometheus/alertmanager/blob/main/template/template.go (Data, Alert).
//
// A fingerprint identifies the labels of an alert, not the incident, so that the key of an event is the fingerprint with
// the start; an alert that is repeated or resolved keeps both. Alertmanager does not define which label is the attacked
// network: several usual names are accepted, and the settings `fields` and `words` override each of the defaults below,
// which are a mapping of the kind `generic`. Labels and annotations are always text.
import { mappedKey } from './generic-fields.ts'
import { createMappedNormaliser } from './generic.ts'
import { readObject } from './reading.ts'
import type { ReportFields } from './reading.ts'
import { readKindSettings } from './settings.ts'
import type { Source } from './source.ts'

/** A label, or an annotation, with any of these names. */
const named = (...names: readonly string[]): string[] => [
  ...names.map((name) => `/labels/${name}`),
  ...names.map((name) => `/annotations/${name}`),
]
const rate = (...names: readonly string[]) => ({ first: named(...names), text: true })

const fieldDefaults: ReportFields = {
  id: ['/fingerprint', '/startsAt'],
  network: { first: named('network', 'prefix', 'target', 'ip', 'address', 'host') },
  start: '/startsAt',
  end: '/endsAt',
  status: '/status',
  direction: { first: named('direction') },
  classification: { first: named('classification', 'attack_type') },
  description: { first: ['/annotations/summary', '/annotations/description', '/labels/alertname'] },
  resource_id: { first: named('resource_id') },
  location_id: { first: named('location', 'site') },
  bps: rate('bps'),
  pps: rate('pps'),
  threshold_bps: rate('threshold_bps'),
  threshold_pps: rate('threshold_pps'),
}

const wordDefaults: Readonly<Record<string, ReportFields>> = {
  status: { firing: ['ongoing'], resolved: ['ended'] },
  direction: { incoming: ['INCOMING'], outgoing: ['OUTGOING'], internal: ['INTERNAL'] },
}

export const alertmanager: Source = {
  kind: 'alertmanager',
  label: 'Prometheus Alertmanager',
  createNormaliser(settings) {
    const { fields = {}, words = {}, ignore } = readKindSettings(settings, ['fields', 'words', 'ignore'])
    return createMappedNormaliser({
      events: '/alerts',
      ...(ignore === undefined ? {} : { ignore }),
      fields: { ...fieldDefaults, ...readObject(fields, 'settings.fields') },
      words: merged(readObject(words, 'settings.words')),
    })
  },
  eventKeyOf: mappedKey,
}

/** The words of the settings in addition to the defaults. */
function merged(words: ReportFields): ReportFields {
  const groups = Object.entries(words).map(([name, group]) => [
    name,
    { ...wordDefaults[name], ...readObject(group, `settings.words.${name}`) },
  ])
  return { ...wordDefaults, ...Object.fromEntries(groups) }
}
