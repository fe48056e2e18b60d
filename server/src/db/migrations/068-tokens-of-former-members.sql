-- `pharos apply` kept the API tokens of removed members and deleted users, and the admin role of the tokens of former admins.
-- Staff may create tokens in teams that they have not joined.
update api_tokens a set revoked = now()
where a.revoked is null and a.creator like 'user:%' and not exists (
  select from users u where u.id = a.created_by
    and (u.is_staff or exists (select from memberships m where (m.team_id, m.user_id) = (a.team_id, u.id))));

update api_tokens a set is_admin = false
from memberships m join users u on u.id = m.user_id
where a.revoked is null and a.is_admin and not m.is_admin and not u.is_staff
  and (m.team_id, m.user_id) = (a.team_id, a.created_by);
