// Examples of attachments of events.
import { addEventAttachmentRoute, listEventAttachmentsRoute } from '../events/event-attachment.ts'
import { example } from '../example.ts'
import { eventId, sourceEventId } from './world.ts'

const sha256 = '4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a'

export const eventAttachmentExamples = [
  example(listEventAttachmentsRoute, {
    params: { event_id: eventId },
    query: { kind: ['pcap'], limit: 100 },
    response: {
      results: [
        {
          id: 918,
          filename: 'attack.pcap',
          content_type: 'application/vnd.tcpdump.pcap',
          size: 261_408,
          sha256,
          kind: 'pcap',
          purpose: '',
          description: '',
          created: '2026-04-01T03:12:31.004Z',
          url: 'https://pharos.example.net/v3/attachments/918/file?token=1775049151-12.7d793037a0760186574b0282f2f435e7ac4f5a1ec8c1d0e6a4d2f6a7c1b9e855',
          url_expires: '2026-04-01T13:12:31.000Z',
        },
      ],
      count: 1,
    },
  }),
  example(addEventAttachmentRoute, {
    params: { source_key: 'fastnetmon', source_event_id: sourceEventId },
    body: { packets: 'The body is the file itself, such as a capture.' },
    response: { event_id: eventId, filename: 'attack.json', kind: 'json', size: 61, sha256 },
  }),
]
