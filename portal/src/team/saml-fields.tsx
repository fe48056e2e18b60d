// The fields of a form with the SAML metadata of an identity provider: its URL, or the XML.
import { text } from '../ui/form-text-widgets.tsx'
import { textarea } from '../ui/form-widgets.tsx'
import { words } from './words.ts'

const { provider: t } = words

export const samlFields = {
  metadata_url: text({
    label: t.metadataUrl,
    help: t.metadataUrlHelp,
    required: false,
    placeholder: 'https://',
  }),
  metadata: textarea({ label: t.metadata, help: t.metadataHelp, required: false }),
}

/** What was entered, without the mark of its encoding, which some files begin with. */
export function metadataOf({ metadata_url, metadata }: { metadata_url?: string; metadata?: string }) {
  const [url, xml] = [(metadata_url ?? '').trim(), (metadata ?? '').replace(/^\uFEFF/, '').trim()]
  return { ...(url === '' ? {} : { metadata_url: url }), ...(xml === '' ? {} : { metadata: xml }) }
}
