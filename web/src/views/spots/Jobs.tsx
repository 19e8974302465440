export default function Jobs() {
  return <p class="empty">Jobs</p>;
}
