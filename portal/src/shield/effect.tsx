// The effect that a list would have had on the traffic of the last hour: the shares of attack and of normal traffic by octets, packets and
// connections, how old the newest flows are, and the limits of the estimate. Without flow records the effect is unknown, never zero.
import { Alert, Text } from '@mantine/core'
import type { ShieldWarning, ShieldWhatIf } from '@pharos/contract/shield/shield'
import { formatRate } from '../ui/rate.ts'
import { largestShare, shareText, sharesText, type Shares } from './share-text.ts'
import { words } from './words.ts'
import classes from './shield.module.css'

const { effect: texts } = words

type EffectProps = {
  readonly whatIf: ShieldWhatIf
  /** The dropped part of one attack, listed first. */
  readonly attackShare?: number | null
}

export function Effect({ whatIf, attackShare }: EffectProps) {
  const { state, attack, normal, dropped_attack_shares, dropped_normal_shares, notes, sampled } = whatIf
  if (state !== 'complete')
    return (
      <Alert color="warn" role="status">
        <Text size="sm">{state === 'no_flows' ? texts.none : texts.unavailable}</Text>
      </Alert>
    )
  const limits = [...new Set([...(sampled ? ['sampled' as const] : []), ...notes])]
  return (
    <div className={classes['effect']}>
      {attackShare !== undefined && (
        <Meter label={texts.thisAttack} share={attackShare} none={texts.noAttack} color="ok" />
      )}
      <Meter
        label={attackShare === undefined ? texts.attack : texts.allAttacks}
        share={dropped_attack_shares.bytes}
        shares={dropped_attack_shares}
        volume={formatRate(attack.bytes, 'B')}
        none={texts.noAttack}
        color="ok"
      />
      <Meter
        label={texts.normal}
        share={largestShare(dropped_normal_shares)}
        shares={dropped_normal_shares}
        volume={formatRate(normal.bytes, 'B')}
        none={texts.noTraffic}
        color="bad"
      />
      <Text size="xs" c="dimmed">
        {[texts.estimate, ...limits.map((note) => texts.notes[note])].join(' ')}
      </Text>
      <Delay answer={whatIf} />
    </div>
  )
}

/** How old the newest flows of an estimate are; a warning if some are missing. */
export function Delay({ answer }: { readonly answer: Pick<ShieldWhatIf, 'delay_seconds' | 'partial'> }) {
  const { delay_seconds: seconds, partial } = answer
  return (
    <Text size="xs" c={partial ? 'var(--warn)' : 'dimmed'} {...(partial ? { role: 'status' } : {})}>
      {[
        seconds === null ? texts.delayUnknown : texts.delay(seconds),
        ...(partial ? [texts.partial] : []),
      ].join(' ')}
    </Text>
  )
}

type MeterProps = {
  readonly label: string
  readonly share: number | null
  readonly shares?: Shares
  readonly volume?: string
  readonly none: string
  /** The color of a dropped share: dropping attack traffic is good, dropping normal traffic is bad. */
  readonly color: 'ok' | 'bad'
}

const Meter = ({ label, share, shares, volume, none, color }: MeterProps) => (
  <div className={classes['meter']}>
    <div className={classes['meterText']}>
      <span>{label}</span>
      <span className={classes['meterValue']} data-color={share === null || share === 0 ? undefined : color}>
        {share === null ? none : texts.dropped(shareText(share))}
      </span>
    </div>
    <div className={classes['track']} aria-hidden>
      <span style={{ width: `${(share ?? 0) * 100}%` }} data-color={color} />
    </div>
    {share !== null && volume !== undefined && (
      <div className={classes['meterNote']}>
        {[texts.of(volume), ...(shares ? [sharesText(shares)] : [])].join(' · ')}
      </div>
    )}
  </div>
)

/** Warnings about a list, each with the rule that it is about. */
export function Warnings({ warnings }: { readonly warnings: readonly ShieldWarning[] }) {
  if (warnings.length === 0) return null
  return (
    <Alert color="warn" title={texts.warnings} role="status">
      <ul className={classes['warnings']}>
        {warnings.map(({ code, loc, detail, other }) => {
          const place = placeOf(loc)
          return (
            <li key={`${code} ${loc.join('.')}`}>
              {place !== undefined && <strong>{texts.ofRule(place + 1)}: </strong>}
              {warningText({ code, detail, other })}
            </li>
          )
        })}
      </ul>
    </Alert>
  )
}

/** Returns the sentence of a warning; other rules are named by their placein the list. */
export function warningText({
  code,
  detail,
  other,
}: Pick<ShieldWarning, 'code' | 'detail' | 'other'>): string {
  const text = (words.warnings as Readonly<Record<string, (place: number) => string>>)[code]
  return text && other !== null ? text(other + 1) : detail
}

/** Returns the index of the rule in `["body","rules",3]`. */
export function placeOf(loc: readonly (string | number)[]): number | undefined {
  const at = loc.indexOf('rules')
  const place = at < 0 ? undefined : loc[at + 1]
  return typeof place === 'number' ? place : undefined
}
