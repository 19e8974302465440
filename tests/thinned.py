"""Tests with many like cases, of which ``make test`` runs some and ``make test-slow`` the others."""

from collections.abc import Mapping

EVERY: Mapping[str, int] = {
    "forms/policies/holdem/test_network.py::test_it_is_worth_the_same_as_on_the_compiled_rules": 2,
    "learn/neural/walks/test_on_ray.py::test_a_training_on_ray_is_one_without": 2,
    "play/protocols/test_servers.py::test_an_answer_that_cannot_be_used_is_one_line": 2,
    "runs/discount/test_train.py::test_each_ablation_trains_and_goes_on": 3,
    "runs/job/test_kinds.py::test_killed_and_resumed_is_as_if_never_stopped": 2,
    "runs/job/test_kinds.py::test_stopped_and_resumed_is_as_if_never_stopped": 2,
    "runs/sample/test_sample.py::test_resuming_is_as_if_never_stopped": 2,
    "search/holdem/test_flop.py::test_exact_leaves_lead_to_the_value_of_the_whole_flop": 2,
    "search/holdem/test_subgame.py::test_every_method_finds_the_value_of_the_whole_game": 3,
    "search/holdem/test_turn.py::test_exact_leaves_lead_to_the_value_of_the_whole_game": 3,
    "search/resolving/test_continuations.py::test_generated_continuations_of_leduc": 2,
    "search/resolving/test_continuations.py::test_the_first_round_of_leduc": 3,
    "search/resolving/test_resolved.py::test_random_games_are_safe": 4,
    "search/test_theory.py::test_modified_cfr_avg_is_tabular_cfr_where_nothing_is_cut": 4,
    "search/test_theory.py::test_modified_cfr_avg_need_not_converge_where_values_jump": 3,
    "search/test_theory.py::test_theorem_5_exact_leaves_lead_to_the_value_of_the_game": 5,
    "search/whole/test_solved_again.py::test_all_boards_at_once_play_as_one_by_one": 2,
    "solvers/sampling/test_numba_walks.py::test_the_tables_are_those_of_walks_in_python": 2,
    "solvers/sampling/test_rules_solver.py::test_learned_baselines_are_those_of_the_compiled_walks": 5,
    "solvers/sampling/test_rules_solver.py::test_random_games": 3,
    "solvers/sampling/test_rules_solver.py::test_the_memory_limit_is_respected": 2,
    "solvers/sampling/test_rules_solver.py::test_the_tables_are_those_of_the_compiled_walks": 5,
    "solvers/sampling/test_unbiased.py::test_compiled_walks_are_unbiased": 3,
    "solvers/test_convergence.py::test_random_public_games": 3,
    "solvers/test_convergence.py::test_random_public_games_are_sampled": 2,
    "solvers/test_convergence.py::test_random_zero_sum_games": 3,
    "solvers/test_convergence.py::test_random_zero_sum_games_are_sampled": 2,
    "solvers/test_own_algorithms.py::test_every_kind_is_solved_with_and_resumed": 3,
    "test_files_of_others.py::test_no_command_runs_a_python_file_that_a_file_names": 5,
    "test_files_of_others.py::test_no_file_makes_another_one_be_read": 5,
    "test_files_of_others.py::test_no_file_runs_a_python_file": 5,
}
"""One case of so many is run always, chosen by its name."""
