// States as a coloured label; the meaning does not depend on the colour.
import type { AnnouncementStatus, RegionState } from '@pharos/contract/byoip'
import type { ValidationState } from '@pharos/contract/announcement-checks'
import type { EventStatus } from '@pharos/contract/analysis'
import type { ReactNode } from 'react'
import classes from './status.module.css'

type Color = 'gray' | 'blue' | 'cyan' | 'teal' | 'yellow' | 'orange' | 'red'
type Shown = { readonly label: string; readonly color: Color }

/** A badge cheap enough for lists; it looks like the library's. */
export const StateBadge = ({ color, children }: { color: Color; children: ReactNode }) => (
  <span className={`${classes['badge']} ${classes[color]}`}>{children}</span>
)

const announcementStatus: Record<AnnouncementStatus, Shown> = {
  pending_validation: { label: 'Checks pending', color: 'gray' },
  validating: { label: 'Checking', color: 'blue' },
  validation_failed: { label: 'Checks failed', color: 'orange' },
  ready: { label: 'Ready', color: 'cyan' },
  announcing: { label: 'Announcing', color: 'blue' },
  announced: { label: 'Announced', color: 'teal' },
  partially_announced: { label: 'Partially announced', color: 'yellow' },
  withdrawing: { label: 'Withdrawing', color: 'blue' },
  withdrawn: { label: 'Withdrawn', color: 'gray' },
  suspended: { label: 'Suspended', color: 'red' },
  error: { label: 'Error', color: 'red' },
}

const validationState: Record<ValidationState, Shown> = {
  valid: { label: 'Valid', color: 'teal' },
  pending: { label: 'Pending', color: 'blue' },
  missing: { label: 'Missing', color: 'orange' },
  invalid: { label: 'Invalid', color: 'red' },
  mismatch_asn: { label: 'Wrong origin AS', color: 'red' },
  mismatch_length: { label: 'Max length too short', color: 'red' },
  expired: { label: 'Expired', color: 'orange' },
  unavailable: { label: 'No answer', color: 'gray' },
}

const regionState: Record<RegionState, Shown> = {
  withdrawn: { label: 'Withdrawn', color: 'gray' },
  announcing: { label: 'Announcing', color: 'blue' },
  announced: { label: 'Announced', color: 'teal' },
  withdrawing: { label: 'Withdrawing', color: 'blue' },
  error: { label: 'Error', color: 'red' },
}

const eventStatus: Record<EventStatus, Shown> = {
  EVENT_PENDING: { label: 'Detected', color: 'orange' },
  EVENT_ONGOING: { label: 'Ongoing', color: 'red' },
  EVENT_ENDED: { label: 'Ended', color: 'gray' },
  MITIGATION_ACTIVE: { label: 'Mitigating', color: 'teal' },
  MITIGATION_ENDED: { label: 'Mitigation ended', color: 'gray' },
  ACKNOWLEDGED: { label: 'Acknowledged', color: 'blue' },
  FALSE_POSITIVE: { label: 'False positive', color: 'gray' },
}

const shown = ({ label, color }: Shown) => <StateBadge color={color}>{label}</StateBadge>

export const AnnouncementStatusBadge = ({ status }: { status: AnnouncementStatus }) =>
  shown(announcementStatus[status])
export const ValidationBadge = ({ state }: { state: ValidationState }) => shown(validationState[state])
export const RegionStateBadge = ({ state }: { state: RegionState }) => shown(regionState[state])
export const EventStatusBadge = ({ status }: { status: EventStatus }) => shown(eventStatus[status])

export const announcementStatusLabel = (status: AnnouncementStatus): string =>
  announcementStatus[status].label
export const eventStatusLabel = (status: EventStatus): string => eventStatus[status].label
