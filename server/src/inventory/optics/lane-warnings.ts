// The early warnings of a module as stored, and as customers see them. Pure.
import type { OpticCause, OpticWarning } from '@pharos/contract/inventory/transceiver'
import type { OpticFinding, WarningState } from './warnings.ts'

export type LaneWarnings = { readonly lane: number; readonly states: readonly WarningState[] }

/** The raised warnings of all lanes. */
export function presentWarnings(lanes: readonly LaneWarnings[]): OpticWarning[] {
  return lanes.flatMap(({ lane, states }) =>
    states.filter(({ isRaised }) => isRaised).map((state) => presentWarning(lane, state)),
  )
}

/** Returns the new warnings, and the ended ones. */
export function compareWarnings(
  before: readonly LaneWarnings[],
  after: readonly LaneWarnings[],
): { readonly state: 'raised' | 'cleared'; readonly warning: OpticWarning }[] {
  const [old, now] = [presentWarnings(before), presentWarnings(after)]
  const isIn = (all: readonly OpticWarning[], one: OpticWarning): boolean =>
    all.some(({ code, metric, lane }) => code === one.code && metric === one.metric && lane === one.lane)
  return [
    ...now.filter((one) => !isIn(old, one)).map((warning) => ({ state: 'raised' as const, warning })),
    ...old.filter((one) => !isIn(now, one)).map((warning) => ({ state: 'cleared' as const, warning })),
  ]
}

function presentWarning(lane: number, { finding, since, day }: WarningState): OpticWarning {
  const reached = finding.code === 'trend' && finding.daysLeft > 0 ? dayText(day + finding.daysLeft) : null
  return {
    code: finding.code,
    metric: finding.metric,
    lane,
    cause: finding.cause,
    since: dayText(since),
    margin_db: finding.code === 'low_margin' ? finding.marginDb : null,
    step_db: finding.code === 'step' ? finding.stepDb : null,
    per_day: finding.code === 'trend' ? finding.perDay : null,
    limit_reached: reached,
    message: `${findingText(finding, lane, dayText(since), reached)} ${advice[finding.cause]}`,
  }
}

const dayText = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10)

const subjects = {
  rx_power: 'the received light',
  tx_power: 'the transmitted light',
  bias: 'the current of the laser',
} as const

function findingText(finding: OpticFinding, lane: number, since: string, reached: string | null): string {
  const subject = `Lane ${lane}: ${subjects[finding.metric]}`
  switch (finding.code) {
    case 'low_margin':
      return finding.marginDb < 0
        ? `${subject} is ${-finding.marginDb} dB below the ${limitNames[finding.limit]} limit of the module.`
        : `${subject} is only ${finding.marginDb} dB above the ${limitNames[finding.limit]} limit of the module.`
    case 'step':
      return `${subject} fell by ${-finding.stepDb} dB on ${since}.`
    case 'trend': {
      const rate =
        finding.metric === 'bias'
          ? `rises by ${finding.perDay} mA a day`
          : `falls by ${-finding.perDay} dB a day`
      return finding.daysLeft === 0
        ? `${subject} ${rate} and has passed its limit.`
        : `${subject} ${rate} and reaches its limit on ${reached} at this rate.`
    }
  }
}

const limitNames = { alarm_low: 'alarm', warn_low: 'warning' } as const

const advice: Readonly<Record<OpticCause, string>> = {
  module: 'Replace the module of this port.',
  path: 'Check the fibre, its connectors and the patch panels.',
  far_module: 'Replace the module at the other end.',
  path_or_far_module: 'Check the fibre and its connectors, then the module at the other end.',
}
