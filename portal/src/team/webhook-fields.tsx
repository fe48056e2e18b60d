// The fields of a webhook, and its secret, which is shown once.
import { Alert, MultiSelect, TextInput } from '@mantine/core'
import { messageTypes, type MessageType } from '@pharos/contract/webhook-message'
import { CopyBlock } from '../ui/copy.tsx'
import type { Fields } from '../ui/form.tsx'

export type WebhookValues = {
  readonly url: string
  readonly description: string
  readonly events: MessageType[]
}
export const newWebhook: WebhookValues = { url: '', description: '', events: [...messageTypes] }

/** Returns the values as the API takes them. */
export const bodyOf = ({ url, ...rest }: WebhookValues) => ({ ...rest, url: url.trim() })

export const WebhookFields = ({ fields }: { fields: Fields<WebhookValues> }) => (
  <>
    <TextInput
      label="URL"
      placeholder="https://hooks.acme.net/pharos"
      required
      data-autofocus
      {...fields.getInputProps('url')}
    />
    <TextInput label="Description" maxLength={500} {...fields.getInputProps('description')} />
    <MultiSelect label="Events to send" data={[...messageTypes]} {...fields.getInputProps('events')} />
  </>
)

export const Secret = ({ secret }: { secret: string }) => (
  <>
    <Alert color="warn">Copy the secret now. You will not see it again. Use it to verify signatures.</Alert>
    <CopyBlock text={secret} label="Copy secret" />
  </>
)
