// The example of the stream.
import { example } from '../example.ts'
import { followStreamRoute } from '../messages/stream.ts'
import { documentedMessages } from './webhook-message.ts'

const type = 'event.started'
const started = documentedMessages.find((message) => message.type === type)!.example

export const streamExamples = [
  example(followStreamRoute, {
    query: { type: [type, 'event.ended'] },
    events: [
      'retry: 2000',
      '',
      'id: 3f2a9c01.48213.0.1775013120',
      'event: ready',
      'data: {}',
      '',
      'id: 3f2a9c01.48377.912.1775013129',
      `event: ${type}`,
      `data: ${JSON.stringify(started)}`,
      '',
      '',
    ].join('\n'),
  }),
]
