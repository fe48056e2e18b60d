// Selects the changes of a check that are reported to the team: a check that was valid and no longer is. An unavailable
// registry is not a failure. Pure.
import type { MessageData } from '@pharos/contract/messages/webhook-message'
import type { NewMessage } from '../../outbox/outbox.ts'
import type { ValidationName, ValidationState } from './validation.ts'

/** A check whose state was just saved, of an announcement that is not deleted. */
export type ChangedCheck = {
  readonly announcement_id: number
  readonly team_id: number
  readonly cidr: string
  readonly origin_asn: number
  readonly name: ValidationName
  readonly before: ValidationState
  readonly state: ValidationState
  readonly note: string
  readonly fix: string | null
}

type FailedState = MessageData<'validation.failed'>['state']

/** Complete by its type: a state that is added to the contract needs a decision here. */
const isFailure: Record<ValidationState, boolean> & Record<FailedState, true> = {
  valid: false,
  pending: false,
  unavailable: false,
  missing: true,
  invalid: true,
  mismatch_asn: true,
  mismatch_length: true,
  expired: true,
}

const isFailed = (state: ValidationState): state is FailedState => isFailure[state]

/** Returns messages about the checks that failed, sorted by announcement and name. */
export function failedCheckMessages(changes: readonly ChangedCheck[]): NewMessage[] {
  return changes
    .toSorted((a, b) => a.announcement_id - b.announcement_id || (a.name < b.name ? -1 : 1))
    .flatMap(({ team_id: teamId, before, state, announcement_id, cidr, origin_asn, name, note, fix }) =>
      before === 'valid' && isFailed(state)
        ? [
            {
              teamId,
              type: 'validation.failed' as const,
              data: { announcement_id, cidr, origin_asn, name, state, note, fix },
            },
          ]
        : [],
    )
}
