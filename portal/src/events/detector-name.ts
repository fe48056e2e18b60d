// The names of detectors for people; the provider chooses their keys. Pure.
const products: Readonly<Record<string, string>> = {
  fastnetmon: 'FastNetMon',
  alertmanager: 'Alertmanager',
  sightline: 'Sightline',
  grafana: 'Grafana',
  ntopng: 'ntopng',
}

/** Returns the product's name, or the key as words: `flow-alarms` is `Flow alarms`. */
export function detectorName(key: string): string {
  const text = key.replaceAll(/[-_]+/g, ' ').trim()
  return products[key] ?? text.charAt(0).toUpperCase() + text.slice(1)
}
