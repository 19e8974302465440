export default function Start() {
  return <p class="empty">Start</p>;
}
