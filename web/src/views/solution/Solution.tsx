export default function Solution() {
  return <p class="empty">Solution</p>;
}
