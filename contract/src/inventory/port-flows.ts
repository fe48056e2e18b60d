// The traffic of a port counted twice: by its interface, and in flow records. Codes say why they differ; the sentences are here.
import { Type, type Static } from 'typebox'
import { Component, Enumeration, Nullable, NullableTime } from '../scalar.ts'

/** Sentences for people, by code. */
const texts = {
  frame_overhead:
    'The interface counts whole Ethernet frames, 18 bytes more for each packet than flow records.',
  sampling: 'Flow records are of a sample of the packets, multiplied by the sampling rate.',
  unknown_sampling: 'The sampling rate of the router is not known, so its flow records count as they are.',
  not_exported: 'The router exports flow records of a part of this traffic only.',
  incomplete: 'Flow records of a part of these hours are missing.',
  implausible:
    'Flow records and the interface differ by more than sampling explains. The provider has been told.',
} as const satisfies Record<string, string>

export type FlowDifference = keyof typeof texts
const flowDifferences = Object.keys(texts) as [FlowDifference, ...FlowDifference[]]

/** Returns the sentence for a code. */
export const flowDifferenceText = (code: FlowDifference): string => texts[code]

const Octets = (description: string) => Nullable(Type.Integer({ minimum: 0, description }))
const Ratio = (description: string) => Nullable(Type.Number({ minimum: 0, description }))

export const PortFlowRecords = Component('PortFlowRecords', {
  hours: Type.Integer({
    minimum: 0,
    description:
      'whole hours of the window that the interface has counted and of which flow records are known: the figures are of them',
  }),
  counted_octets_in: Octets(
    'bytes received by the customer, as the interface counts them: of Ethernet frames',
  ),
  counted_octets_out: Octets('bytes sent by the customer, as the interface counts them'),
  octets_in: Octets('bytes received by the customer in flow records, by the sampling rate: of IP packets'),
  octets_out: Octets('bytes sent by the customer in flow records'),
  ratio_in: Ratio('flow records divided by what the interface counts; null without both'),
  ratio_out: Ratio('as `ratio_in`, of bytes sent'),
  sampling_rate: Nullable(
    Type.Integer({
      minimum: 1,
      description: 'one of so many packets is sampled; null if it is not known or varies',
    }),
  ),
  differences: Type.Array(Enumeration('FlowDifference', flowDifferences), {
    description: 'what explains a difference',
  }),
  checked_hour: {
    ...NullableTime,
    description: 'start of the last hour that the provider has compared; null if none could be',
  },
  checked_ratio: Ratio('the ratio of that hour, of the direction with the larger one'),
})
export type PortFlowRecords = Static<typeof PortFlowRecords>
