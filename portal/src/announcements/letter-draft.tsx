// A draft of the letter of authorization, which the server writes and the user signs.
import { Button, TextInput } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import { draftLetterRoute } from '@pharos/contract/byoip/letter'
import { IconDownload } from '@tabler/icons-react'
import { call } from '../api/call.ts'
import { Dialog } from '../ui/dialog.tsx'
import { download } from '../ui/export-file.ts'
import { CoveredAnnouncements } from './covered-announcements.tsx'
import { words } from './words.ts'

const { letters: texts } = words

type Values = {
  readonly signatory: string
  readonly contact: string
  readonly registry_handle: string
  /** Ids of announcements. */
  readonly applies_to: string[]
}
const noValues: Values = { signatory: '', contact: '', registry_handle: '', applies_to: [] }

async function downloadDraft({ id, cidr }: Announcement, { applies_to, ...signer }: Values): Promise<void> {
  const { body } = await call(draftLetterRoute, {
    params: { announcement_id: id },
    query: {
      ...Object.fromEntries(Object.entries(signer).filter(([, value]) => value.trim() !== '')),
      ...(applies_to.length > 0 ? { applies_to: applies_to.map(Number) } : {}),
    },
  })
  download(`letter-${cidr.replace('/', '-')}.pdf`, body as unknown as Blob)
}

export const LetterDraft = ({ announcement }: { announcement: Announcement }) => (
  <Dialog
    title={texts.draftTitle}
    action={texts.draft}
    initialValues={noValues}
    trigger={(open) => (
      <Button variant="default" leftSection={<IconDownload size={14} />} onClick={open}>
        {texts.draft}
      </Button>
    )}
    onSubmit={(values) => downloadDraft(announcement, values)}
  >
    {(fields) => (
      <>
        <TextInput
          label={texts.signatory}
          description={texts.signatoryHelp}
          maxLength={200}
          data-autofocus
          {...fields.getInputProps('signatory')}
        />
        <TextInput
          label={texts.contact}
          description={texts.contactHelp}
          maxLength={200}
          {...fields.getInputProps('contact')}
        />
        <TextInput
          label={texts.handle}
          description={texts.handleHelp}
          maxLength={100}
          {...fields.getInputProps('registry_handle')}
        />
        <CoveredAnnouncements announcementId={announcement.id} {...fields.getInputProps('applies_to')} />
      </>
    )}
  </Dialog>
)
