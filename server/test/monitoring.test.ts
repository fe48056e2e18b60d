// The alerts and dashboards of docs/operating: Prometheus accepts their expressions, their metrics exist, each alert has a
// runbook and is tested.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { programPath, skipWithout } from '@pharos/lab/program'
import type { Counter } from 'prom-client'
import { parse, stringify } from 'yaml'
import { startMailCounters } from '../src/mail/parts.ts'
import { collectProcessMetrics, createMetrics } from '../src/runtime/metrics.ts'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../../docs/operating/', import.meta.url))
const read = (path: string) => readFileSync(join(folder, path), 'utf8')

type Alert = { readonly alert: string; readonly expr: string; readonly annotations: Record<string, string> }
type Recording = {
  readonly record: string
  readonly expr: string
  readonly labels: { readonly objective: string }
}
type Rule = Alert | Recording
type RuleFile = { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
type FiredAlert = { readonly exp_labels: Record<string, string> }
type AlertTest = { readonly alertname: string; readonly exp_alerts?: readonly FiredAlert[] }
type TestFile = { readonly tests: readonly { readonly alert_rule_test: readonly AlertTest[] }[] }
const alertTests = (path: string) => (parse(read(path)) as TestFile).tests.map((one) => one.alert_rule_test)
type Dashboard = {
  readonly uid: string
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}

const rulesOf = (path: string) => (parse(read(path)) as RuleFile).groups.flatMap(({ rules }) => rules)
const isAlert = (rule: Rule): rule is Alert => 'alert' in rule
const objectiveRules = rulesOf('prometheus/slo.yaml')
const ownAlerts = rulesOf('prometheus/rules.yaml').filter(isAlert)
const alerts = [...ownAlerts, ...objectiveRules.filter(isAlert)]
const dashboards = readdirSync(join(folder, 'grafana')).map(
  (name) => JSON.parse(read(`grafana/${name}`)) as Dashboard,
)
const panels = dashboards.flatMap(({ uid, panels }) => panels.map((panel) => ({ ...panel, dashboard: uid })))

/** Returns the metrics of an expression: names before a selector, an operator or the end, without functions and labels. */
function metricsIn(expr: string): string[] {
  const plain = expr.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/\b(?:by|on) \([^)]*\)/g, '')
  return [...plain.matchAll(/\b(?:pharos|process|nodejs)_[a-z0-9_]+\b(?!:)/g)].map(([name]) => name)
}

describe('alerts and dashboards', () => {
  const known = new Set<string>()
  const buckets = new Map<string, readonly string[]>()
  const documentedAlerts: string[] = []

  before(async () => {
    const metrics = createMetrics()
    collectProcessMetrics(metrics)
    for (const { name, type } of await metrics.registry.getMetricsAsJSON()) {
      const isHistogram = String(type) === 'histogram'
      for (const suffix of isHistogram ? ['_bucket', '_count', '_sum'] : ['']) known.add(name + suffix)
    }
    for (const { name } of await metrics.registry.getMetricsAsJSON())
      buckets.set(
        name,
        (metrics.registry.getSingleMetric(name) as { upperBounds?: number[] }).upperBounds?.map(String) ?? [],
      )
    for (const { name, help } of await metrics.registry.getMetricsAsJSON())
      if (/\bAlert\b/.test(help)) documentedAlerts.push(name)
  })

  it('use metrics that exist', () => {
    const used = [...alerts, ...objectiveRules, ...panels.flatMap(({ targets }) => targets)].flatMap(
      ({ expr }) => metricsIn(expr),
    )
    assert.ok(used.length > 80)
    assert.deepEqual(
      [...new Set(used)].filter((name) => !known.has(name)),
      [],
    )
  })

  it('contain an alert for each metric whose help names one', () => {
    const used = new Set(alerts.flatMap(({ expr }) => metricsIn(expr)))
    assert.deepEqual(
      documentedAlerts.filter((name) => !used.has(name)),
      [],
    )
  })

  it('are in metrics.md with each metric, or the reason why a metric has none', () => {
    const rows = [...read('metrics.md').matchAll(/^\| `(pharos_[a-z_]+)` \|.*\| (.+) \|$/gm)]
    assert.ok(rows.length > 50)
    for (const [, name, cell] of rows) {
      const links = alerts
        .filter(({ expr }) =>
          metricsIn(expr).some((used) => used.replace(/(?<=_seconds)_count$/, '') === name),
        )
        .map(({ alert }) => `[${alert}](runbooks.md#${alert.toLowerCase()})`)
      if (links.length > 0) assert.equal(cell, links.join(', '), name!)
      else assert.match(cell!, /^no alert: \S/, name!)
    }
  })

  it('use counters that exist before their first increment, which is no increase otherwise', async () => {
    const metrics = createMetrics()
    startMailCounters(metrics)
    for (const { expr } of alerts)
      for (const [, name, selector = ''] of expr.matchAll(/increase\((pharos_\w+)(?:\{(.*?)\})?\[/g)) {
        const { values } = await (metrics.registry.getSingleMetric(name!) as Counter).get()
        assert.ok(values.length > 0, name!)
        for (const [, label, , wanted] of selector.matchAll(/(\w+)(=~|=)"(.*?)"/g))
          for (const value of wanted!.split('|'))
            assert.ok(
              values.some(({ labels }) => labels[label!] === value),
              `${name} ${label} ${value}`,
            )
      }
  })

  it('have a section of runbooks.md for each alert, and no others', () => {
    const headings = [...read('runbooks.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!)
    assert.deepEqual(
      headings,
      alerts.map(({ alert }) => alert),
    )
    for (const { alert, annotations } of alerts)
      assert.equal(annotations['runbook'], `docs/operating/runbooks.md#${alert.toLowerCase()}`)
  })

  it('have a test for each alert in which it is silent, and one in which it fires', () => {
    const tests = alertTests('prometheus/rules.test.yaml').flat()
    for (const isFiring of [false, true]) {
      const names = tests.filter(({ exp_alerts }) => (exp_alerts !== undefined) === isFiring)
      assert.deepEqual(
        names.map(({ alertname }) => alertname),
        ownAlerts.map(({ alert }) => alert),
      )
    }
  })

  it('have an objective for each histogram of slo.md, with its target, that a test lets be missed', () => {
    const targets = [
      ...read('slo.md').matchAll(/^\| `(\w+)` \| `(pharos_\w+)` \| (\d+) % within ([\d,]+) s \|/gm),
    ]
    const recorded = objectiveRules.filter((rule) => !isAlert(rule)) as Recording[]
    const objectives = targets.map(([, objective, metric, share, seconds]) => {
      const le = seconds!.replace(',', '')
      const own = recorded.filter(({ labels }) => labels.objective === objective)
      const [budget, ...ratios] = own
      assert.equal(budget?.expr, `vector(${(100 - Number(share)) / 100})`)
      assert.deepEqual(
        ratios.map(({ expr }) => expr),
        ['5m', '30m', '1h', '6h', '3d'].map(
          (window) =>
            `1 - sum(rate(${metric}_bucket{le=~"${le}|${le}.0"}[${window}])) / sum(rate(${metric}_count[${window}]))`,
        ),
      )
      assert.ok(buckets.get(metric!)?.includes(le), `${metric} has a bucket ${le}`)
      const panel = panels.find(({ targets: of }) => of.some(({ expr }) => expr.includes(`${metric}_bucket`)))
      assert.ok(
        panel?.targets.some(({ expr }) => expr === `vector(${le})`),
        `a panel shows ${objective}`,
      )
      return objective!
    })
    assert.equal(objectives.length, 4)
    assert.equal(recorded.length, objectives.length * 6)
    assert.deepEqual(
      alertTests('prometheus/slo.test.yaml').map((tests) => [
        ...new Set(
          tests.flatMap(({ exp_alerts = [] }) => exp_alerts.map((one) => one.exp_labels['objective'])),
        ),
      ]),
      objectives.map((objective) => [objective]),
    )
    for (const tests of alertTests('prometheus/slo.test.yaml'))
      for (const { alert } of objectiveRules.filter(isAlert))
        assert.deepEqual(
          tests
            .filter(({ alertname }) => alertname === alert)
            .map(({ exp_alerts }) => exp_alerts !== undefined),
          [false, true, false],
          alert,
        )
  })

  it(
    'are accepted by promtool, and each alert fires when it should',
    { skip: skipWithout('promtool') },
    async () => {
      const temporary = await mkdtemp(join(tmpdir(), 'pharos-rules-'))
      try {
        const rules = panels.flatMap(({ dashboard, title, targets }) =>
          targets.map(({ expr }) => ({
            record: 'panel',
            expr: expr.replaceAll('$__rate_interval', '5m'),
            labels: { dashboard, title },
          })),
        )
        const file = join(temporary, 'panels.yaml')
        await writeFile(file, stringify({ groups: [{ name: 'panels', rules }] }))
        const [rulesFile, objectives] = ['rules.yaml', 'slo.yaml'].map((name) =>
          join(folder, 'prometheus', name),
        )
        await run(programPath('promtool'), ['check', 'rules', rulesFile!, objectives!, file])
        for (const name of ['rules', 'slo'])
          await run(programPath('promtool'), ['test', 'rules', join(folder, `prometheus/${name}.test.yaml`)])
      } finally {
        await rm(temporary, { recursive: true })
      }
    },
  )
})
