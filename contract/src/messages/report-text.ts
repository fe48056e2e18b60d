// The texts of a monthly report that its page, its PDF and its mail share.
import type { PeakBand } from '../events/event.ts'
import { formatRate } from '../rate.ts'
import type { ReportChangeKind, ReportTrafficState } from './report.ts'

/** Why a report has no traffic. */
export const noTrafficTexts: Readonly<Record<Exclude<ReportTrafficState, 'measured'>, string>> = {
  no_flows: 'No flow records in this month.',
  unavailable: 'Flow records were not available when this report was made. All other parts are complete.',
}

/** What happened to an announcement, or to the shield rules of a prefix. */
export const reportChangeTexts: Readonly<Record<ReportChangeKind, string>> = {
  announcement_created: 'Announcement created',
  announcement_enabled: 'Announcement enabled',
  announcement_disabled: 'Announcement disabled',
  announcement_suspended: 'Announcement suspended',
  announcement_resumed: 'Announcement resumed',
  announcement_deleted: 'Announcement deleted',
  shield_changed: 'Shield rules changed',
  shield_reverted: 'Shield rules reverted to the last confirmed ones',
  shield_removed: 'Shield rules removed: the team no longer holds the prefix',
}

/** The bands of the peaks of attacks. */
export const peakBandTexts: Readonly<Record<PeakBand, string>> = {
  below_1g: 'Below 1 Gbps',
  from_1g: '1 to 10 Gbps',
  from_10g: '10 to 100 Gbps',
  from_100g: 'Over 100 Gbps',
}

/** Returns `March 2026`. */
export const monthText = (month: string): string =>
  new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${month}-01T00:00:00Z`),
  )

/** Returns the highest rate of an attack, of its packets if no bits were reported. */
export const peakText = ({ bps, pps }: { readonly bps: number; readonly pps: number }): string =>
  bps > 0 ? formatRate(bps, 'bps') : pps > 0 ? formatRate(pps, 'pps') : '–'

/** Returns a rate such as `9.5 Gbps`, or a dash if it is unknown. */
export const rateOrDash = (value: number | null): string => (value === null ? '–' : formatRate(value, 'bps'))
