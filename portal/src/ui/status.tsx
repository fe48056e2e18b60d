// States as a dot and a word; the meaning does not depend on the color.
import type { AnnouncementStatus, RegionState } from '@pharos/contract/byoip/announcement'
import type { EventStatus } from '@pharos/contract/events/event'
import type { ReactNode } from 'react'
import classes from './status.module.css'

/** The color of a state: `ok` as wanted, `info` in progress, `warn` needs attention, `bad` failed, `idle` off or ended. */
export type StateColor = 'idle' | 'info' | 'ok' | 'warn' | 'bad'

/** `moving`: in progress, so that the dot pulses. */
export type Shown = { readonly label: string; readonly color: StateColor; readonly moving?: boolean }

type StatePillProps = { readonly color: StateColor; readonly moving?: boolean; readonly children: ReactNode }

/** The one way to show a state. One element, since a list shows hundreds of them. */
export const StatePill = ({ color, moving, children }: StatePillProps) => (
  <span className={`${classes['badge']} ${classes[color]}`} data-moving={moving || undefined}>
    {children}
  </span>
)

const announcementStatus: Record<AnnouncementStatus, Shown> = {
  pending_validation: { label: 'Checks pending', color: 'idle' },
  validating: { label: 'Checking', color: 'info', moving: true },
  validation_failed: { label: 'Checks failed', color: 'warn' },
  ready: { label: 'Ready', color: 'info' },
  announcing: { label: 'Announcing', color: 'info', moving: true },
  announced: { label: 'Announced', color: 'ok' },
  partially_announced: { label: 'Partially announced', color: 'warn' },
  withdrawing: { label: 'Withdrawing', color: 'info', moving: true },
  withdrawn: { label: 'Withdrawn', color: 'idle' },
  suspended: { label: 'Suspended', color: 'bad' },
  error: { label: 'Error', color: 'bad' },
}

const regionState: Record<RegionState, Shown> = {
  withdrawn: { label: 'Withdrawn', color: 'idle' },
  announcing: { label: 'Announcing', color: 'info', moving: true },
  announced: { label: 'Announced', color: 'ok' },
  withdrawing: { label: 'Withdrawing', color: 'info', moving: true },
  error: { label: 'Error', color: 'bad' },
}

const eventStatus: Record<EventStatus, Shown> = {
  EVENT_PENDING: { label: 'Detected', color: 'warn' },
  EVENT_ONGOING: { label: 'Ongoing', color: 'bad' },
  EVENT_ENDED: { label: 'Ended', color: 'idle' },
  MITIGATION_ACTIVE: { label: 'Mitigating', color: 'info', moving: true },
  MITIGATION_ENDED: { label: 'Mitigation ended', color: 'idle' },
  ACKNOWLEDGED: { label: 'Acknowledged', color: 'info' },
  FALSE_POSITIVE: { label: 'False positive', color: 'idle' },
}

const shown = ({ label, color, moving = false }: Shown) => (
  <StatePill color={color} moving={moving}>
    {label}
  </StatePill>
)

export const AnnouncementStatusBadge = ({ status }: { status: AnnouncementStatus }) =>
  shown(announcementStatus[status])
export const RegionStatePill = ({ state }: { state: RegionState }) => shown(regionState[state])
export const EventStatusBadge = ({ status }: { status: EventStatus }) => shown(eventStatus[status])

export const announcementStatusShown = (status: AnnouncementStatus): Shown => announcementStatus[status]
export const regionStateShown = (state: RegionState): Shown => regionState[state]
export const eventStatusShown = (status: EventStatus): Shown => eventStatus[status]
