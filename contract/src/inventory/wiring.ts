// A place in the patch panels of the provider.
import { Type, type Static } from 'typebox'
import { Component } from '../scalar.ts'

const Text = (description: string) => Type.String({ description: `${description}; empty if not set` })

export const Wiring = Component('Wiring', {
  panel: Text('patch panel of the provider'),
  module: Text('module of the panel'),
  position: Text('position in the module'),
})
export type Wiring = Static<typeof Wiring>
