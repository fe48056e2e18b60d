// The fields of a webhook, and its secret, which is shown once.
import { Alert } from '@mantine/core'
import { messageTypes, type MessageType } from '@pharos/contract/messages/webhook-message'
import { text } from '../ui/form-text-widgets.tsx'
import { checkboxes } from '../ui/form-widgets.tsx'
import { Secret } from '../ui/secret.tsx'
import { words } from './words.ts'

const { webhook: t } = words

export type WebhookValues = {
  readonly url: string
  readonly description: string
  readonly events: MessageType[]
}
/** An attack that two detectors report causes messages about two events and one incident: by default a webhook gets only the latter. */
const isOfEvent = (type: MessageType): boolean => type.startsWith('event.')

export const newWebhook: WebhookValues = {
  url: '',
  description: '',
  events: messageTypes.filter((type) => !isOfEvent(type)),
}

/** Returns the values as the API takes them. */
export const bodyOf = ({ url, ...rest }: WebhookValues) => ({ ...rest, url: url.trim() })

type Subject = MessageType extends `${infer First}.${string}` ? First : never
const groups = ['routing', 'attacks', 'dns', 'inventory', 'billing', 'alerts', 'team'] as const

const groupOfSubject: Readonly<Record<Subject, (typeof groups)[number]>> = {
  announcement: 'routing',
  validation: 'routing',
  event: 'attacks',
  incident: 'attacks',
  shield: 'attacks',
  zone: 'dns',
  port: 'inventory',
  cross_connect: 'inventory',
  service: 'billing',
  alert: 'alerts',
  team: 'team',
}

const groupOf = (type: MessageType) => groupOfSubject[type.split('.')[0] as Subject]

const optionsOf = (list: readonly MessageType[]) => list.map((value) => ({ value, ...t.message[value] }))

export const webhookFields = {
  url: text({
    label: t.url,
    help: t.urlHelp,
    placeholder: 'https://hooks.acme.net/pharos',
    inputMode: 'url',
  }),
  description: text({ label: t.description }),
  events: checkboxes({
    label: t.events,
    groups: groups.map((group) => ({
      title: t.eventGroups[group],
      options: optionsOf(messageTypes.filter((type) => groupOf(type) === group)),
    })),
  }),
}

export const NewSecret = ({ secret }: { secret: string }) => (
  <>
    <Alert color="warn">{t.secretOnce}</Alert>
    <Secret text={secret} name={t.noun} />
  </>
)
