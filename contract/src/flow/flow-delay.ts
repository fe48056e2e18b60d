// How complete the flows are that an answer was computed from.
import { Type } from 'typebox'
import { Nullable, NullableTime } from '../scalar.ts'

/** Fields of every answer about flows. */
export const flowDelay = {
  delay_seconds: Nullable(
    Type.Integer({
      minimum: 0,
      description:
        'age of the oldest flows that a collector has not stored yet; null if no collector reports',
    }),
  ),
  complete_until: {
    ...NullableTime,
    description:
      'flows received before this time are in the answer, except lost ones; null if no collector reports',
  },
}
