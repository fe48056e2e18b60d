// A letter of authorization to sign: the server drafts it, the user adds who signs and what else it covers.
import { Button, TextInput } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip'
import { draftLetterRoute } from '@pharos/contract/letter'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { Dialog } from '../ui/dialog.tsx'
import { download } from '../ui/download.ts'
import { CoveredAlso } from './letter-upload.tsx'

export function LetterDraft({ announcement: { id, cidr } }: { announcement: Announcement }) {
  const [others, setOthers] = useState<string[]>([])
  const [signer, setSigner] = useState({ signatory: '', contact: '', registry_handle: '' })
  async function draft() {
    const given = Object.entries(signer).filter(([, value]) => value.trim() !== '')
    const { body } = await call(draftLetterRoute, {
      params: { announcement_id: id },
      query: {
        ...Object.fromEntries(given),
        ...(others.length > 0 ? { applies_to: others.map(Number) } : {}),
      },
    })
    download(`letter-${cidr.replace('/', '-')}.pdf`, body as unknown as Blob)
  }
  const field = (name: keyof typeof signer) => ({
    maxLength: name === 'registry_handle' ? 100 : 200,
    value: signer[name],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setSigner({ ...signer, [name]: value }),
  })
  return (
    <Dialog
      title="Draft a letter"
      action="Download draft"
      trigger={(open) => (
        <Button variant="default" leftSection={<IconDownload size={14} />} onClick={open}>
          Draft a letter
        </Button>
      )}
      onSubmit={draft}
    >
      <TextInput
        label="Signer"
        description="Empty fields become lines to fill in by hand."
        data-autofocus
        {...field('signatory')}
      />
      <TextInput label="Contact" description="E-mail address or telephone number" {...field('contact')} />
      <TextInput
        label="Registry handle"
        description="Handle of the signer or their organization, such as ABC1-RIPE"
        {...field('registry_handle')}
      />
      <CoveredAlso id={id} value={others} onChange={setOthers} />
    </Dialog>
  )
}
