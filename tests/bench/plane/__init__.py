"""What happens on a real control plane, with us and without."""
