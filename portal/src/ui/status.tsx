// States as words with a colour: the word says it, the colour only helps the eye.
import type { AnnouncementStatus, RegionState } from '@pharos/contract/byoip'
import type { ValidationState } from '@pharos/contract/announcement-checks'
import type { EventStatus } from '@pharos/contract/analysis'
import type { ReactNode } from 'react'
import classes from './status.module.css'

type Color = 'gray' | 'blue' | 'cyan' | 'teal' | 'yellow' | 'orange' | 'red'
type Shown = { readonly label: string; readonly color: Color }

/** A badge for lists; elsewhere the library's looks the same. */
export const Mark = ({ color, children }: { color: Color; children: ReactNode }) => (
  <span className={`${classes['badge']} ${classes[color]}`}>{children}</span>
)

const announcementStatus: Record<AnnouncementStatus, Shown> = {
  pending_validation: { label: 'waits for checks', color: 'gray' },
  validating: { label: 'being checked', color: 'blue' },
  validation_failed: { label: 'checks failed', color: 'orange' },
  ready: { label: 'ready', color: 'cyan' },
  announcing: { label: 'announcing', color: 'blue' },
  announced: { label: 'announced', color: 'teal' },
  partially_announced: { label: 'partly announced', color: 'yellow' },
  withdrawing: { label: 'withdrawing', color: 'blue' },
  withdrawn: { label: 'withdrawn', color: 'gray' },
  suspended: { label: 'suspended', color: 'red' },
  error: { label: 'error', color: 'red' },
}

const validationState: Record<ValidationState, Shown> = {
  valid: { label: 'valid', color: 'teal' },
  pending: { label: 'pending', color: 'blue' },
  missing: { label: 'missing', color: 'orange' },
  invalid: { label: 'invalid', color: 'red' },
  mismatch_asn: { label: 'other origin', color: 'red' },
  mismatch_length: { label: 'other length', color: 'red' },
  expired: { label: 'expired', color: 'orange' },
  unavailable: { label: 'not answered', color: 'gray' },
}

const regionState: Record<RegionState, Shown> = {
  withdrawn: { label: 'withdrawn', color: 'gray' },
  announcing: { label: 'announcing', color: 'blue' },
  announced: { label: 'announced', color: 'teal' },
  withdrawing: { label: 'withdrawing', color: 'blue' },
  error: { label: 'error', color: 'red' },
}

const eventStatus: Record<EventStatus, Shown> = {
  EVENT_PENDING: { label: 'seen', color: 'orange' },
  EVENT_ONGOING: { label: 'ongoing', color: 'red' },
  EVENT_ENDED: { label: 'ended', color: 'gray' },
  MITIGATION_ACTIVE: { label: 'mitigated', color: 'teal' },
  MITIGATION_ENDED: { label: 'mitigation ended', color: 'gray' },
  ACKNOWLEDGED: { label: 'acknowledged', color: 'blue' },
  FALSE_POSITIVE: { label: 'false positive', color: 'gray' },
}

const shown = ({ label, color }: Shown) => <Mark color={color}>{label}</Mark>

export const AnnouncementStatusBadge = ({ status }: { status: AnnouncementStatus }) =>
  shown(announcementStatus[status])
export const ValidationBadge = ({ state }: { state: ValidationState }) => shown(validationState[state])
export const RegionStateBadge = ({ state }: { state: RegionState }) => shown(regionState[state])
export const EventStatusBadge = ({ status }: { status: EventStatus }) => shown(eventStatus[status])

export const announcementStatusWord = (status: AnnouncementStatus): string => announcementStatus[status].label
