// Every example of the document. Each operation needs one: openapi-document.test.ts lists operations without an example.
import recordedAlerts from '../alert/examples.json' with { type: 'json' }
import recordedByoip from '../byoip/examples.json' with { type: 'json' }
import recordedDns from '../dns/examples.json' with { type: 'json' }
import recordedEvents from '../events/examples.json' with { type: 'json' }
import recordedFlow from '../flow/examples.json' with { type: 'json' }
import recordedInventory from '../inventory/examples.json' with { type: 'json' }
import recordedMessages from '../messages/examples.json' with { type: 'json' }
import recordedOperator from '../operator/examples.json' with { type: 'json' }
import recordedSession from '../session/examples.json' with { type: 'json' }
import recordedShield from '../shield/examples.json' with { type: 'json' }
import recordedTeam from '../team/examples.json' with { type: 'json' }
import type { Example, Examples } from '../example.ts'
import { reportExamples } from './report.ts'
import { streamExamples } from './stream.ts'

/** Examples that `npm run generate` records. */
const recorded = (examples: object): readonly (readonly [string, Example])[] => Object.entries(examples)

export const examples: Examples = new Map([
  ...recorded(recordedSession),
  ...recorded(recordedTeam),
  ...recorded(recordedMessages),
  ...streamExamples,
  ...recorded(recordedAlerts),
  ...recorded(recordedByoip),
  ...recorded(recordedOperator),
  ...recorded(recordedDns),
  ...recorded(recordedInventory),
  ...recorded(recordedEvents),
  ...recorded(recordedFlow),
  ...recorded(recordedShield),
  ...reportExamples,
])
