-- A team may change the details of an announcement. The version counts changes of the desired side: by callers, staff and the
-- platform file. What the reconciler and the validator observe does not change it.
grant update (description, as_set, delegate_loa, loa_signatory) on announcements to pharos_tenant;
comment on column announcements.version is 'incremented by every change of the desired side; the part of the ETag that If-Match compares';
