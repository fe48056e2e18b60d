// Attacks, services and changes of the report. Times are in the time zone of the report.
import { Text } from '@mantine/core'
import { billedText, overageText } from '@pharos/contract/inventory/bill-text'
import { classificationLabel } from '@pharos/contract/events/classification'
import type { MonthlyReport, ReportChange, ReportService } from '@pharos/contract/messages/report'
import { peakText, rateOrDash, reportChangeTexts } from '@pharos/contract/messages/report-text'
import { useNavigate } from '@tanstack/react-router'
import { formatCount } from '../charts/units.ts'
import { AttackBars } from '../events/attacks-by-day.tsx'
import { durationOf } from '../events/event-duration.ts'
import { networkText } from '../events/network-text.ts'
import { Figure } from '../ui/figure.tsx'
import { TextLink } from '../ui/link.tsx'
import { Grid } from '../ui/page.tsx'
import { Section } from '../ui/section.tsx'
import { timeIn } from '../ui/time-text.ts'
import { ReportTable } from './report-table.tsx'
import classes from './reports.module.css'
import { words } from './words.ts'

type PartProps = { readonly report: MonthlyReport }

export function Attacks({ report: { attacks, timezone } }: PartProps) {
  const { attacks: texts } = words
  const navigate = useNavigate()
  const { count, largest } = attacks
  if (count === 0)
    return (
      <Section title={texts.title}>
        <Text size="sm">{texts.none}</Text>
      </Section>
    )
  const [first] = largest
  return (
    <Section title={texts.title}>
      <Grid min={180}>
        <Figure
          label={texts.count}
          value={formatCount(count)}
          note={texts.before(formatCount(attacks.count_before))}
        />
        <Figure
          label={texts.largest}
          value={first ? peakText(first) : texts.noneLargest}
          note={first && networkText(first.network)}
        />
      </Grid>
      <div className={classes['chart']}>
        <AttackBars
          label={texts.chart}
          data={attacks.days}
          timeZone={timezone}
          height={180}
          onPeriod={(range) => void navigate({ to: '/events', search: range })}
        />
      </div>
      <h3 className={classes['heading']}>{texts.list}</h3>
      <ReportTable
        label={texts.list}
        head={[
          { title: texts.network },
          { title: texts.type },
          { title: texts.peak, isNumber: true },
          { title: texts.started },
          { title: texts.duration, isNumber: true },
        ]}
        rows={largest.map((attack) => ({
          key: attack.id,
          cells: [
            {
              content: (
                <TextLink to="/events/$id" params={{ id: attack.id }} ff="monospace" size="sm">
                  {networkText(attack.network)}
                </TextLink>
              ),
            },
            { content: classificationLabel(attack.classification_key) },
            { content: peakText(attack), isNumber: true },
            { content: timeIn(attack.start, timezone) },
            { content: attack.end === null ? texts.ongoing : durationOf(attack), isNumber: true },
          ],
        }))}
      />
    </Section>
  )
}

export function Services({ services }: PartProps & { readonly services: readonly ReportService[] }) {
  const { services: texts } = words
  if (services.length === 0) return null
  const numbers = [texts.commit, texts.p95In, texts.p95Out, texts.billed, texts.above]
  return (
    <Section title={texts.title}>
      <ReportTable
        label={texts.title}
        head={[{ title: texts.service }, ...numbers.map((title) => ({ title, isNumber: true }))]}
        rows={services.flatMap(({ id, name, ports }) =>
          ports.map((port) => ({
            key: `${id} ${port.port_id}`,
            cells: [
              {
                content: (
                  <TextLink to="/services/$id" params={{ id: String(id) }} size="sm">
                    {port.port_id === null ? name : `${name} · ${port.name}`}
                  </TextLink>
                ),
              },
              ...[
                rateOrDash(port.commit_bps),
                rateOrDash(port.p95_in_bps),
                rateOrDash(port.p95_out_bps),
                billedText(port) ?? '–',
                overageText(port) ?? '–',
              ].map((content) => ({ content, isNumber: true })),
            ],
          })),
        )}
      />
      <Text size="xs" c="dimmed">
        {texts.note}
      </Text>
    </Section>
  )
}

export function Changes({
  report: { timezone, change_count: count },
  changes,
}: PartProps & { readonly changes: readonly ReportChange[] }) {
  const { changes: texts } = words
  return (
    <Section title={texts.title}>
      {changes.length === 0 ? (
        <Text size="sm">{texts.none}</Text>
      ) : (
        <ReportTable
          label={texts.title}
          head={[{ title: texts.time }, { title: texts.prefix }, { title: texts.change }]}
          rows={changes.map(({ at, prefix, kind, rules }) => ({
            key: `${at} ${prefix} ${kind}`,
            cells: [
              { content: timeIn(at, timezone) },
              { content: prefix, isMono: true },
              {
                content:
                  rules === null || kind === 'shield_removed'
                    ? reportChangeTexts[kind]
                    : `${reportChangeTexts[kind]} (${texts.rules(rules)})`,
              },
            ],
          }))}
        />
      )}
      {count > changes.length && (
        <Text size="xs" c="dimmed">
          {texts.more(count - changes.length)}
        </Text>
      )}
    </Section>
  )
}
