export default function Games() {
  return <p class="empty">Games</p>;
}
