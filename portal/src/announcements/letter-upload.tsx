// Uploads a signed letter, dropped or chosen, for this announcement and for others that it covers.
import { FileInput, Group, Text, TextInput } from '@mantine/core'
import { getAnnouncementRoute, type Announcement } from '@pharos/contract/byoip/announcement'
import {
  letterBytesMax,
  letterMediaTypes,
  listLettersRoute,
  uploadLetterRoute,
} from '@pharos/contract/byoip/letter'
import { IconFileUpload, IconUpload } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { invalidate } from '../api/queries.ts'
import { DropZone } from '../ui/drop-zone.tsx'
import { useRequestForm } from '../ui/form.tsx'
import { notifySuccess } from '../ui/notify.ts'
import { Problem } from '../ui/problem.tsx'
import { SubmitButton } from '../ui/submit-button.tsx'
import { CoveredAnnouncements } from './covered-announcements.tsx'
import { words } from './words.ts'

const { letters: texts } = words

type Values = {
  readonly file: File | null
  readonly valid_until: string
  /** Ids of announcements. */
  readonly applies_to: string[]
}
const noValues: Values = { file: null, valid_until: '', applies_to: [] }

/** Returns the reason why the server would reject the file. */
function mistakeIn({ file }: Values): { file?: string } {
  if (!file) return {}
  if (file.size === 0) return { file: texts.empty }
  if (file.size > letterBytesMax) return { file: texts.tooLarge }
  const isKnown = (letterMediaTypes as readonly string[]).includes(file.type)
  return isKnown ? {} : { file: texts.wrongType }
}

export function LetterUpload({ announcement: { id } }: { announcement: Announcement }) {
  const form = useRequestForm({
    initialValues: noValues,
    validate: mistakeIn,
    request: ({ file, valid_until, applies_to }) =>
      call(uploadLetterRoute, {
        params: { announcement_id: id },
        form: {
          file: file!,
          fields: {
            ...(valid_until ? { valid_until } : {}),
            ...(applies_to.length > 0 ? { applies_to: applies_to.map(Number) } : {}),
          },
        },
      }),
    onSuccess: async (_answer, { valid_until }) => {
      form.restart({ ...noValues, valid_until })
      notifySuccess(texts.sent)
      await invalidate(listLettersRoute, getAnnouncementRoute)
    },
  })
  const { fields } = form
  const isReady = fields.values.file !== null && mistakeIn(fields.values).file === undefined
  return (
    <form onSubmit={form.submit}>
      <DropZone onDrop={(file) => fields.setFieldValue('file', file)}>
        <Group align="flex-start">
          <FileInput
            size="xs"
            w={320}
            label={texts.signed}
            description={texts.signedHelp}
            placeholder={texts.choose}
            accept={letterMediaTypes.join(',')}
            leftSection={<IconFileUpload size={14} />}
            clearable
            clearButtonProps={{ 'aria-label': texts.removeFile }}
            {...fields.getInputProps('file')}
          />
          <TextInput
            size="xs"
            type="date"
            label={texts.validUntil}
            description={texts.validHelp}
            {...fields.getInputProps('valid_until')}
          />
          <CoveredAnnouncements
            announcementId={id}
            size="xs"
            w={260}
            {...fields.getInputProps('applies_to')}
          />
        </Group>
      </DropZone>
      <Group my="sm">
        <SubmitButton form={form} leftSection={<IconUpload size={14} />} disabled={!isReady}>
          {texts.send}
        </SubmitButton>
        {isReady && (
          <Text size="xs" c="dimmed">
            {texts.replaces}
          </Text>
        )}
      </Group>
      {form.problem !== undefined && <Problem error={form.problem} />}
    </form>
  )
}
