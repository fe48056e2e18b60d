// Every example of the document. Each operation needs one: openapi-document.test.ts lists operations without an example.
import recordedByoip from '../byoip/examples.json' with { type: 'json' }
import recordedDns from '../dns/examples.json' with { type: 'json' }
import recordedInventory from '../inventory/examples.json' with { type: 'json' }
import recordedMessages from '../messages/examples.json' with { type: 'json' }
import recordedSession from '../session/examples.json' with { type: 'json' }
import recordedTeam from '../team/examples.json' with { type: 'json' }
import type { Example, Examples } from '../example.ts'
import { adminTeamExamples } from './admin-team.ts'
import { analysisExamples } from './analysis.ts'
import { deliveryExamples } from './delivery.ts'
import { dnssecExamples } from './dnssec.ts'
import { flowExamples } from './flow.ts'
import { eventAttachmentExamples } from './event-attachment.ts'
import { eventTrafficExamples } from './event-traffic.ts'
import { operatorExamples } from './operator.ts'
import { platformExamples } from './platform.ts'
import { reportExamples } from './report.ts'
import { searchExamples } from './search.ts'
import { blackholeExamples } from './blackhole.ts'
import { shieldExamples } from './shield.ts'
import { streamExamples } from './stream.ts'

/** Examples that `npm run generate` records. */
const recorded = (examples: object): readonly (readonly [string, Example])[] => Object.entries(examples)

export const examples: Examples = new Map([
  ...recorded(recordedSession),
  ...recorded(recordedTeam),
  ...recorded(recordedMessages),
  ...streamExamples,
  ...recorded(recordedByoip),
  ...operatorExamples,
  ...adminTeamExamples,
  ...platformExamples,
  ...recorded(recordedDns),
  ...dnssecExamples,
  ...recorded(recordedInventory),
  ...analysisExamples,
  ...flowExamples,
  ...shieldExamples,
  ...blackholeExamples,
  ...deliveryExamples,
  ...eventAttachmentExamples,
  ...eventTrafficExamples,
  ...reportExamples,
  ...searchExamples,
])
